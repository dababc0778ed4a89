"""All facts of one reconcile about an app and its cluster, in four parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from streamapp.protocol.driver_report import ExecutorBinding, Report
from streamapp.protocol.silent_driver import SilentDriver
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.config_maps.accepted_generation import (
    AcceptedGeneration,
    adopted_generations,
    generation_in_force,
)
from streamapp_operator.reconciler.facts.node_state import NodeState
from streamapp_operator.reconciler.facts.pod_state import PodState
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.objects.app_revision import AppRevision
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, PartitionCounts
from streamapp_operator.reconciler.result_caches import MemoizedResults


@dataclass(frozen=True, slots=True)
class NewestGeneration:
    """The resource's newest generation, as far as it can be parsed."""

    generation: int
    app: StreamApp | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DesiredModel:
    """The job model's ConfigMap, as it was last published to the driver."""

    wanted: WantedState
    text: str
    accepted: str  # the accepted app beside it, as text
    reset_nonce: int  # of the app when the model was published
    incarnation: int  # of the driver that was started with the model
    was_reset: bool  # whether an earlier run of this resource was reset
    candidate: str = ""  # the generation that the driver is asked about, as text


@dataclass(frozen=True, slots=True)
class ApplicationIdHolder:
    """Another app that holds the same application id already."""

    name: str
    namespace: str
    was_accepted: bool = True  # so that it runs, or may run again


@dataclass(frozen=True, slots=True)
class DryRun:
    """The API server's answer about a generation's pods, before the generation was accepted."""

    at: float
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class RefusedPod:
    """A pod that the API server would not take."""

    reason: str
    message: str

    def text(self, role: str) -> str:
        """The refusal of the pod of a driver or of an executor, in the API server's words."""
        return f"the API server refuses the pod of {role}: {self.message}"


@dataclass(frozen=True, slots=True)
class MissingExecutors:
    """The executors that a driver lacks."""

    GRACE_SECONDS: ClassVar[float] = 5.0
    """How long Spark has for another pod before anything is said of it."""

    living: int
    wanted: int
    since: float  # when so many of them were first seen
    refused_pod: RefusedPod | None = None  # why the API server would not take another one

    def seconds(self, now: float) -> float:
        """For how long they have been missing."""
        return now - self.since


@dataclass(frozen=True, slots=True)
class RecordedHistory:
    """The revisions of an app, and whether the generation in force is to be added to them."""

    revisions: tuple[AppRevision, ...] = ()  # by number, as the watch saw them
    is_due: bool = False  # a driver has run the generation in force, which is not the newest revision
    last_app: StreamApp | None = None  # of the newest revision, where another one is due

    @property
    def last(self) -> AppRevision | None:
        """The newest revision."""
        return self.revisions[-1] if self.revisions else None


ObjectName = tuple[str, str]
"""The kind and name of an object in the app's namespace."""


@dataclass(frozen=True, slots=True, order=True)
class TakenName:
    """An object with the label of an app that does not own it."""

    kind: str
    name: str
    manifest: Manifest = field(compare=False)
    is_needed: bool = True  # whether the app has to have the name before its first driver
    is_left_behind: bool = False  # whether a deleted app of the same name left the object


def uid_of_run(app: Manifest, generations: Sequence[AcceptedGeneration]) -> str:
    """The uid of the resource for which the app's generations were first accepted."""
    first_owner = generations[-1].accepted.owner if generations else ""
    return first_owner or str(app["metadata"]["uid"])


@dataclass(frozen=True, slots=True)
class AppFacts:
    """The resource, and the newest generation of it."""

    manifest: Manifest
    newest: NewestGeneration
    start_problems: Mapping[int, tuple[Problem, ...]] = field(default_factory=dict)  # by generation
    history: RecordedHistory = field(default_factory=RecordedHistory)
    application_id_holder: ApplicationIdHolder | None = None
    namespace_of_id: str = ""  # another namespace with apps, whose name the application id begins with
    dry_run: DryRun | None = None  # of the newest generation, where it was made recently

    @property
    def status(self) -> Manifest:
        """The app's last status."""
        status: Manifest = self.manifest.get("status") or {}
        return status

    @property
    def name(self) -> str:
        """The app's name."""
        return str(self.manifest["metadata"]["name"])


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """The app's run as its ConfigMaps record it: generations, job model, report, locality."""

    generations: tuple[AcceptedGeneration, ...] = ()  # in ascending order
    unreadable: tuple[str, ...] = ()  # names of those that cannot be decoded
    desired: DesiredModel | None = None
    report: Report | None = None
    has_report: bool = False  # whether the report's ConfigMap exists
    reported_at: float | None = None  # when the driver last wrote its report
    silent_driver: SilentDriver | None = None  # what a standby says of the driver
    locality: Manifest | None = None

    @property
    def in_force(self) -> AcceptedGeneration | None:
        """The newest accepted generation that no driver has refused."""
        return generation_in_force(self.generations)

    @property
    def adopted_generations(self) -> int:
        """The generations of the resources before, from which an adopted app counts on; else 0."""
        return adopted_generations(self.generations)

    def own_generation(self, generation: int) -> int:
        """The number that a generation has in the resource; 0 for one of the app that was adopted."""
        return max(0, generation - self.adopted_generations)

    def accepted_generation(self, generation: int) -> AcceptedGeneration | None:
        """The accepted generation of this number, if there is one."""
        return next((accepted for accepted in self.generations if accepted.generation == generation), None)

    def report_of(self, pod: PodState | None) -> Report | None:
        """The report, where it is that of a pod; None where the newest report is another driver's."""
        is_its = self.report is not None and pod is not None and self.report.driver == pod.name
        return self.report if is_its else None


@dataclass(frozen=True, slots=True)
class AppPods:
    """The pods of the app, and the nodes that they run on."""

    drivers: tuple[PodState, ...] = ()  # by incarnation; those that have taken over, or may have
    successors: tuple[PodState, ...] = ()  # by incarnation; standby drivers that have not taken over
    executors: tuple[PodState, ...] = ()  # but those of successors, which have no tasks yet
    early_executors: tuple[PodState, ...] = ()  # those of successors
    missing_executors: Mapping[str, MissingExecutors] = field(default_factory=dict)  # by uid of a driver
    nodes: Mapping[str, NodeState] = field(default_factory=dict)
    silent_since: Mapping[str, float] = field(default_factory=dict)
    """By uid of a driver that fails probes which it passed before, or does not answer its standby: since when
    that is seen."""
    refused_pod: RefusedPod | None = None  # why the API server would not take the pod of a successor
    locations: Mapping[str, str] = field(default_factory=dict)  # by executor, as Spark calls it

    def located(self, binding: Mapping[str, ExecutorBinding]) -> dict[str, ExecutorBinding]:
        """The processors' bindings with the locations from the pods' metadata.

        Without a pod's location the driver's own stays.
        """
        return {
            name: replace(bound, location=self.locations.get(bound.executor, bound.location))
            for name, bound in binding.items()
        }


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """The other objects that the app has, names or needs, and the partitions that its systems have."""

    driver_objects: Mapping[ObjectName, Manifest] = field(default_factory=dict)  # as the watches saw them
    claims: tuple[Manifest, ...] = ()  # volume claims of the app; only read from the API server
    taken_names: tuple[TakenName, ...] = ()
    """Objects with names of the app's objects that it does not own, as of a deleted app of this name."""
    unrestored: tuple[str, ...] = ()  # objects of the running driver that cannot be put back, and why
    unrestored_reason: str = ""
    configuration: Mapping[str, str] = field(default_factory=dict)
    """The versions of Secrets and ConfigMaps that the app names, by kind and name."""
    storage_class: str = ""  # the cluster's default, where the newest generation needs one
    counts: Mapping[int, PartitionCounts] = field(default_factory=dict)  # by generation

    @property
    def partitions(self) -> int:
        """The number of partitions to plan, over all streams of the larger generation."""
        known_counts = [counts.counts for counts in self.counts.values() if isinstance(counts, KnownCounts)]
        return max((sum(count or 0 for count in counts.values()) for counts in known_counts), default=0)


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts, gathered at once; the steps of a reconcile look nothing up."""

    app: AppFacts
    now: float
    run: PublishedRun = field(default_factory=PublishedRun)
    pods: AppPods = field(default_factory=AppPods)
    cluster: ClusterFacts = field(default_factory=ClusterFacts)
    memoized: MemoizedResults = field(default_factory=MemoizedResults, compare=False)

    @property
    def uid(self) -> str:
        """The uid by which the app's run goes: that of the resource which it was first accepted for.

        An adopted app keeps it, and with it Spark's id, its claims and what its driver listens to.
        """
        return uid_of_run(self.app.manifest, self.run.generations)

    def condition_since(self, type_: str, status: str, reason: str) -> float | None:
        """Since when the last status has had a condition of this status and reason; None where it has not."""
        conditions: list[Mapping[str, str]] = self.app.status.get("conditions") or []
        condition = next((condition for condition in conditions if condition["type"] == type_), None)
        if condition is None or (condition["status"], condition["reason"]) != (status, reason):
            return None
        since = parse_timestamp(condition["lastTransitionTime"])
        return None if since is None else min(since, self.now)
