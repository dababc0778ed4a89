"""All that one reconcile knows of an app and its world."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streamapp.protocol.driver_report import ExecutorBinding, Report
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.facts.node_state import NodeState
from streamapp_operator.reconciler.facts.pod_state import PodState
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, PartitionCounts
from streamapp_operator.reconciler.result_caches import MemoizedResults


@dataclass(frozen=True, slots=True)
class NewestGeneration:
    """The generation that the resource has now, as far as it can be read."""

    generation: int
    app: StreamApp | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DesiredModel:
    """The job model's ConfigMap: what the driver was last told to run."""

    wanted: WantedState
    text: str
    accepted: str  # the accepted app beside it, as text
    reset_nonce: int  # of the app when it was written
    incarnation: int  # of the driver that was started with it
    was_reset: bool  # whether an earlier run of this very resource was given up


@dataclass(frozen=True, slots=True)
class ApplicationIdHolder:
    """Another app that has the same application id, and had it before."""

    name: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Gathered at once; nothing that is decided looks anything up again."""

    manifest: Manifest
    newest: NewestGeneration
    now: float
    drivers: tuple[PodState, ...] = ()  # by incarnation
    executors: tuple[PodState, ...] = ()
    nodes: Mapping[str, NodeState] = field(default_factory=dict)
    snapshots: tuple[AcceptedGeneration, ...] = ()  # by generation
    unreadable: tuple[str, ...] = ()  # ConfigMaps of ours that cannot be read
    desired: DesiredModel | None = None
    report: Report | None = None
    claims: tuple[Manifest, ...] = ()  # volume claims of the app; only known where `live`
    has_report: bool = False  # whether the ConfigMap to report in is there
    locality: Manifest | None = None
    locations: Mapping[str, str] = field(default_factory=dict)  # by executor, as Spark calls it
    counts: Mapping[int, PartitionCounts] = field(default_factory=dict)  # by generation
    storage_class: str = ""  # the default, where the newest generation needs one
    rival: ApplicationIdHolder | None = None
    worked: MemoizedResults = field(default_factory=MemoizedResults, compare=False)
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
        known = [one.counts for one in self.counts.values() if isinstance(one, KnownCounts)]
        return max((sum(count or 0 for count in counts.values()) for counts in known), default=0)

    def located(self, binding: Mapping[str, ExecutorBinding]) -> dict[str, ExecutorBinding]:
        """The seats of processors with the locations that the pods' metadata tells.

        What no pod tells stays as the driver has it.
        """
        return {
            name: replace(seat, location=self.locations.get(seat.executor, seat.location))
            for name, seat in binding.items()
        }

    def snapshot(self, generation: int) -> AcceptedGeneration | None:
        """An accepted generation."""
        return next((one for one in self.snapshots if one.generation == generation), None)

    @property
    def in_force(self) -> AcceptedGeneration | None:
        """The newest generation that was accepted and that no driver has refused."""
        return next((one for one in reversed(self.snapshots) if one.refused is None), None)
