"""The report of a lane about one task after a batch, as text that travels to the driver."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from streamapp_runtime.lanes.protocol.failed_records import FailedRecord, failed_records_of
from streamapp_runtime.lanes.protocol.rejections import RejectionReport
from streamapp_runtime.lanes.protocol.sent_values import (
    sent_flag,
    sent_list,
    sent_number,
    sent_numbers_by_name,
    sent_object,
    sent_seconds,
    sent_text,
    sent_texts,
    sent_texts_by_name,
)
from streamapp_runtime.lanes.protocol.state_query import StateAnswer
from streamapp_runtime.lanes.protocol.task_status import TaskStatus


class MalformedReportError(ValueError):
    """The text that a lane sent is no report of a task."""


@dataclass(frozen=True, slots=True)
class EventTimeReport:
    """The event-time progress of a task, and the time to ask it again though no records come."""

    watermarks: Mapping[str, int] = field(default_factory=dict)  # by stream, where there are any
    due: int | None = None  # when a watermark is to be written if no more records come
    idle_at: int | None = None  # when a partition is idle if no more records come
    ended: bool = False  # whether nothing will ever come to the task in this turn

    def fields(self) -> dict[str, Any]:
        """As it travels in JSON."""
        values = {name: getattr(self, name) for name in _TIME_READERS}
        return {name: value for name, value in values.items() if value != getattr(_UNTIMED, name)}

    @classmethod
    def of_fields(cls, sent: object) -> "EventTimeReport":
        """As it was sent."""
        return cls(**{name: _TIME_READERS[name](value) for name, value in sent_object(sent).items()})


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The report of a lane about one task after a batch."""

    task: str
    status: TaskStatus
    checkpoint: str = ""  # the new one, where committed
    rows_in: int = 0
    rows_out: int = 0
    bytes_in: int = 0
    restored: int = 0  # changelog entries replayed into stores
    bad: int = 0  # records set aside
    message: str = ""
    steps: Sequence[tuple[str, float]] = ()  # seconds by step
    counted: Sequence[tuple[str, str, int]] = ()  # by counter, and by table or operator: of the whole lane
    contained: Mapping[str, int] = field(default_factory=dict)  # positions of side inputs, by partition
    paused_inputs: Sequence[str] = ()  # what is not read on, and the side inputs of which nothing is seen yet
    location: str = ""  # of the lane
    published: Mapping[str, str] = field(default_factory=dict)  # versions made, by broadcast table
    time: EventTimeReport = field(default_factory=EventTimeReport)
    rejections: RejectionReport = field(default_factory=RejectionReport)
    oom_kills: int | None = None  # by the kernel's count, when the worker started; of the lane's first task
    failed_records: Sequence[FailedRecord] = ()  # of the lane: on which an expression failed
    answers: Sequence[StateAnswer] = ()  # of the lane: to what it was asked of its state

    def fields(self) -> dict[str, Any]:
        """As it travels in JSON: without what it has nothing to say of."""
        values = [(name, getattr(self, name), empty) for name, empty in _OPTIONAL]
        sent_fields = {name: value for name, value, empty in values if value not in (empty, [])}
        if rejections := self.rejections.fields():
            sent_fields["rejections"] = rejections
        if time := self.time.fields():
            sent_fields["time"] = time
        if self.answers:
            sent_fields["answers"] = [answer.fields() for answer in self.answers]
        return {"task": self.task, "status": self.status, **sent_fields}

    @classmethod
    def of_fields(cls, sent: Mapping[str, Any]) -> "TaskReport":
        """As it was sent; MalformedReportError where a field is unknown, or has another type."""
        try:
            return cls(**{name: _READERS[name](value) for name, value in sent.items()})
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise MalformedReportError(f"a report of a task is malformed: {error!r}") from error


_EMPTY: Final = TaskReport("", TaskStatus.COMMITTED)
_OPTIONAL: Final = tuple(
    (one.name, getattr(_EMPTY, one.name))
    for one in fields(TaskReport)
    if one.name not in {"task", "status", "time", "rejections", "answers"}
)
"""What is left out where it says nothing."""


def _steps(values: object) -> tuple[tuple[str, float], ...]:
    return tuple((sent_text(name), sent_seconds(seconds)) for name, seconds in sent_list(values))


def _counted(values: object) -> tuple[tuple[str, str, int], ...]:
    rows = sent_list(values)
    return tuple((sent_text(counter), sent_text(name), sent_number(number)) for counter, name, number in rows)


def _answers(values: object) -> tuple[StateAnswer, ...]:
    return tuple(map(StateAnswer.of_fields, sent_list(values)))


_TIME_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "watermarks": sent_numbers_by_name,
    "due": sent_number,
    "idle_at": sent_number,
    "ended": sent_flag,
}
_UNTIMED: Final = EventTimeReport()
_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "task": sent_text,
    "status": TaskStatus,
    "checkpoint": sent_text,
    "rows_in": sent_number,
    "rows_out": sent_number,
    "bytes_in": sent_number,
    "restored": sent_number,
    "bad": sent_number,
    "message": sent_text,
    "steps": _steps,
    "counted": _counted,
    "contained": sent_numbers_by_name,
    "paused_inputs": sent_texts,
    "location": sent_text,
    "published": sent_texts_by_name,
    "time": EventTimeReport.of_fields,
    "rejections": RejectionReport.parse,
    "oom_kills": sent_number,
    "failed_records": failed_records_of,
    "answers": _answers,
}
"""What reads each field as it was sent; a field that is not sent says nothing."""
for report, readers in ((TaskReport, _READERS), (EventTimeReport, _TIME_READERS)):
    if missing_readers := {one.name for one in fields(report)} ^ readers.keys():
        raise TypeError(f"fields of a report without a reader, or the other way round: {missing_readers}")
