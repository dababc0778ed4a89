"""All that one reconcile knows of an app and its world."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streamapp.protocol.report import Report, Seat
from streamapp.protocol.wanted import Wanted
from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.counts.answers import Counts, Known
from streamapp_operator.facts.nodes import Node
from streamapp_operator.facts.pods import Pod
from streamapp_operator.facts.worked_out import WorkedOut
from streamapp_operator.objects.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Newest:
    """The generation that the resource has now, as far as it can be read."""

    generation: int
    app: StreamApp | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Desired:
    """The job model's ConfigMap: what the driver was last told to run."""

    wanted: Wanted
    text: str
    accepted: str  # the accepted app beside it, as text
    reset_nonce: int  # of the app when it was written
    incarnation: int  # of the driver that was started with it
    was_reset: bool  # whether an earlier run of this very resource was given up


@dataclass(frozen=True, slots=True)
class Rival:
    """Another app that has the same application id, and had it before."""

    name: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Gathered at once; nothing that is decided looks anything up again."""

    manifest: Manifest
    newest: Newest
    now: float
    drivers: tuple[Pod, ...] = ()  # by incarnation
    executors: tuple[Pod, ...] = ()
    nodes: Mapping[str, Node] = field(default_factory=dict)
    snapshots: tuple[Snapshot, ...] = ()  # by generation
    unreadable: tuple[str, ...] = ()  # ConfigMaps of ours that cannot be read
    desired: Desired | None = None
    report: Report | None = None
    claims: tuple[Manifest, ...] = ()  # volume claims of the app; only known where `live`
    has_report: bool = False  # whether the ConfigMap to report in is there
    locality: Manifest | None = None
    locations: Mapping[str, str] = field(default_factory=dict)  # by executor, as Spark calls it
    counts: Mapping[int, Counts] = field(default_factory=dict)  # by generation
    storage_class: str = ""  # the default, where the newest generation needs one
    rival: Rival | None = None
    worked: WorkedOut = field(default_factory=WorkedOut, compare=False)
    live: bool = False  # whether it was read from the API server, and not from what watches have seen

    @property
    def status(self) -> Manifest:
        """What was last said of the app."""
        found: Manifest = self.manifest.get("status") or {}
        return found

    @property
    def name(self) -> str:
        """The app's name."""
        return str(self.manifest["metadata"]["name"])

    @property
    def uid(self) -> str:
        """The resource's uid."""
        return str(self.manifest["metadata"]["uid"])

    @property
    def partitions(self) -> int:
        """How many there are to plan, at the most."""
        known = [one.counts for one in self.counts.values() if isinstance(one, Known)]
        return max((sum(count or 0 for count in counts.values()) for counts in known), default=0)

    def located(self, binding: Mapping[str, Seat]) -> dict[str, Seat]:
        """The seats of processors with the locations that the pods' metadata tells.

        What no pod tells stays as the driver has it.
        """
        return {
            name: replace(seat, location=self.locations.get(seat.executor, seat.location))
            for name, seat in binding.items()
        }

    def snapshot(self, generation: int) -> Snapshot | None:
        """An accepted generation."""
        return next((one for one in self.snapshots if one.generation == generation), None)

    @property
    def in_force(self) -> Snapshot | None:
        """The newest generation that was accepted and that no driver has refused."""
        return next((one for one in reversed(self.snapshots) if one.refused is None), None)
