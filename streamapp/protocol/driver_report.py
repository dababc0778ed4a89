"""A driver's report on itself: written when something changes, and believed until the next report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from streamapp.jobmodel.job_model import JobModel
from streamapp.placement.locations.store_history import StoreHistory
from streamapp.protocol.start_steps import StartTimes
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition
from streamapp.tasks.user_answers import UserAnswers


class DriverState(StrEnum):
    """The stage of a driver's life."""

    STARTING = "starting"  # the app is looked at as a whole; nothing has been asked of Spark
    WAITING = "waiting"  # for executors
    RESTORING = "restoring"  # some tasks bring back their stores, others may work
    RUNNING = "running"
    SWITCHING = "switching"  # to another model, between two batches
    ENDED = "ended"

    @property
    def has_batches(self) -> bool:
        """True if a driver in this state has got to its first batch, and runs further ones."""
        return self in {DriverState.RESTORING, DriverState.RUNNING}


@dataclass(frozen=True, slots=True)
class ExecutorBinding:
    """The location and the executor of a processor."""

    location: str | None = None  # None where it is not known
    executor: str = ""  # as Spark calls it; empty where it runs in the driver


@dataclass(frozen=True, slots=True)
class ReportedWarning:
    """Something that was refused while the app continues unchanged."""

    reason: str  # one of `Reason`; it may be of a later version than the reader
    path: str
    message: str
    model_version: int = 0  # of the model that was refused; 0 where it was no model

    def redacted(self, redact: Callable[[str], str]) -> "ReportedWarning":
        """The same with other texts: what they may not repeat is taken out."""
        return replace(self, path=redact(self.path), message=redact(self.message))


@dataclass(frozen=True, slots=True)
class CandidateVerdict:
    """A running driver's verdict on a generation, asked for before the generation is accepted."""

    generation: int  # of the driver itself, before it was asked about any other
    refusals: tuple[ReportedWarning, ...] = ()  # why a driver of that generation would not start


@dataclass(frozen=True, slots=True)
class Progress:
    """The app's rough progress: exact numbers change with every batch, and are in the metrics."""

    lag: int = 0  # records that are there and not yet read, to the next power of two
    restoring: int = 0  # tasks that bring back their stores
    utilization: int | None = None  # percent of the last minute spent in batches; None: not known yet


@dataclass(frozen=True, slots=True)
class Report:
    """A driver's word."""

    state: DriverState
    driver: str = ""  # the name of the pod that speaks
    incarnation: int = 0  # of the app's checkpoint stream
    spec_hash: str = ""  # of the accepted app that the driver was started with
    generation: int = 0  # that it goes by, which may be a later one; 0 where nobody counts them
    run_id: str = ""
    model_version: int = 0  # the model that is applied; 0 before the first
    binding: Mapping[str, ExecutorBinding] = field(default_factory=dict)  # by processor
    moved: Mapping[str, str] = field(default_factory=dict)  # task -> processor, where not as the model says
    counts: Mapping[str, int] = field(default_factory=dict)  # by stream: partitions as they are now
    ends: Mapping[Partition, int] = field(default_factory=dict)  # of streams that have grown, when last seen
    layout: Layout | None = None  # as it lies with the state: every other one is a copy
    progress: Progress = Progress()
    warnings: tuple[ReportedWarning, ...] = ()
    stores: StoreHistory = field(default_factory=StoreHistory)  # places of stores that the driver remembers
    answers: UserAnswers | None = None  # of the app's own functions; None where it has none
    start: StartTimes = field(default_factory=dict)  # when the driver took the steps of its start
    verdict: CandidateVerdict | None = None  # None: the driver cannot be asked about other generations

    def redacted(self, redact: Callable[[str], str]) -> "Report":
        """The same with other texts: what they may not repeat is taken out."""
        verdict = self.verdict and replace(
            self.verdict, refusals=tuple(refusal.redacted(redact) for refusal in self.verdict.refusals)
        )
        warnings = tuple(warning.redacted(redact) for warning in self.warnings)
        return replace(self, warnings=warnings, verdict=verdict)

    def processor_locality(self) -> dict[str, str | None]:
        """The location of each processor."""
        return {name: seat.location for name, seat in self.binding.items()}

    def owners(self, model: JobModel) -> dict[str, str]:
        """The processor of each task, by the model that is applied and by what was moved since."""
        return {task.name: self.moved.get(task.name, model.owner(task.name)) for task in model.tasks}

    def task_locality(self, model: JobModel) -> dict[str, str | None]:
        """The location of each task's state, by the model that is applied; unknown ones are left out."""
        places = self.processor_locality()
        return {task: places[owner] for task, owner in self.owners(model).items() if places.get(owner)}


def next_power_of_two(number: int) -> int:
    """The next power of two, so that what hardly changes is not reported again."""
    return 1 << (number - 1).bit_length() if number > 0 else 0
