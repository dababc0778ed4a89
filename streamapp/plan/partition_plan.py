"""A plan: every stream's partition count and its ground, every join's group, and what is wrong with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from streamapp.graph.stages import Stage
from streamapp.plan.count_reason import CountReason, CountSource
from streamapp.plan.graph_changes import Hint
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operator_kinds import OperatorKind


class PlanOutcome(StrEnum):
    """The outcome of planning: the app may run or not."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Mode(StrEnum):
    """The mode of an app: it runs for ever or ends with its inputs."""

    STREAM = "stream"
    BATCH = "batch"


class Role(StrEnum):
    """The role of a stream in the app."""

    INPUT = "input"
    OUTPUT = "output"
    INPUT_OUTPUT = "inputOutput"
    INTERMEDIATE = "intermediate"
    SIDE_INPUT = "sideInput"


@dataclass(frozen=True, slots=True)
class PlannedStream:
    """A stream that the app uses. Without partitions, nothing says how many it has."""

    name: str
    partitions: int | None
    role: Role
    system: str
    because: CountReason
    broadcast: bool = False  # whole to every task, so that it constrains nothing


@dataclass(frozen=True, slots=True)
class PlannedJoin:
    """An operator that brings equal keys together, the streams they come from, and what those agree on."""

    operator: str
    kind: OperatorKind
    streams: tuple[str, ...]
    partitions: int | None


@dataclass(frozen=True, slots=True)
class PlanError:
    """One thing that is wrong, the streams it is about with their counts, and what would fix it."""

    reason: Reason
    operator: str | None
    streams: tuple[tuple[str, int | None], ...]
    message: str
    hint: str
    hints: tuple[Hint, ...] = ()  # where changes to the graph fix it: those that the hint has words for
    path: str = ""  # of the field that it is about, where that is not the operator as such
    line: int = 0  # of the field, where the app comes from a text


@dataclass(frozen=True, slots=True)
class Plan:
    """All that planning found out; everything in it is sorted, so equal apps have equal plans."""

    mode: Mode
    streams: Mapping[str, PlannedStream]
    joins: tuple[PlannedJoin, ...]
    components: tuple[tuple[str, ...], ...]  # streams that share one count, through however many joins
    stages: tuple[Stage, ...]
    broadcast_inputs: str  # as in `task.broadcast.inputs`: main.rates#[0-7],main.users#0
    errors: tuple[PlanError, ...]
    notes: tuple[str, ...] = ()  # what is worth knowing of how it runs, though nothing is wrong

    @property
    def outcome(self) -> PlanOutcome:
        """Accepted when nothing is wrong."""
        return PlanOutcome.REJECTED if self.errors else PlanOutcome.ACCEPTED

    @property
    def exceeds_bound(self) -> bool:
        """True if the app has more partitions than can be planned any further."""
        return any(error.reason is Reason.TOO_MANY_PARTITIONS for error in self.errors)

    def classification(self) -> dict[Role, tuple[str, ...]]:
        """The app's streams by role."""
        return {
            role: tuple(name for name, stream in self.streams.items() if stream.role is role) for role in Role
        }

    def before_inference(self) -> dict[str, int | None]:
        """The count of each stream as it was known before the joins were looked at."""
        known_kinds = (CountSource.KNOWN, CountSource.EXPLICIT)
        return {
            name: stream.partitions if stream.because.kind in known_kinds else None
            for name, stream in self.streams.items()
        }
