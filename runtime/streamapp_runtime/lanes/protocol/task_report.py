"""What a lane says of one task after a batch, as text that travels to the driver."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from streamapp_runtime.lanes.protocol.failed_rows import FailedRecord, failed_records_of
from streamapp_runtime.lanes.protocol.rejections import RejectionReport
from streamapp_runtime.lanes.protocol.state_query import StateAnswer
from streamapp_runtime.lanes.protocol.task_status import TaskStatus


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What a lane says of one task after a batch."""

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
    watermarks: Mapping[str, int] = field(default_factory=dict)  # by stream, where there are any
    due: int | None = None  # when a watermark is to be written if no more records come
    idle_at: int | None = None  # when a partition is idle if no more records come
    ended: bool = False  # whether nothing will ever come to the task in this turn
    rejections: RejectionReport = field(default_factory=RejectionReport)
    oom_kills: int | None = None  # by the kernel's count, when the worker started; of the lane's first task
    failed_rows: str = ""  # the rows of the lane on which an expression failed, in a search for them
    failed_records: Sequence[FailedRecord] = ()  # of the lane: on which an expression failed in a worker
    answers: Sequence[StateAnswer] = ()  # of the lane: to what it was asked of its state

    def fields(self) -> dict[str, Any]:
        """As it travels in JSON: without what it has nothing to say of."""
        values = [(name, getattr(self, name), empty) for name, empty in _OPTIONAL]
        news = {name: value for name, value, empty in values if value not in (empty, [])}
        if rejections := self.rejections.fields():
            news["rejections"] = rejections
        if self.answers:
            news["answers"] = [answer.fields() for answer in self.answers]
        return {"task": self.task, "status": self.status, **news}

    @classmethod
    def of_fields(cls, sent: dict[str, Any]) -> "TaskReport":
        """As it was sent."""
        report = dict(sent, status=TaskStatus(sent["status"]))
        if "steps" in sent:
            report["steps"] = tuple((name, seconds) for name, seconds in sent["steps"])
        if "counted" in sent:
            report["counted"] = tuple((counter, name, number) for counter, name, number in sent["counted"])
        if "failed_records" in sent:
            report["failed_records"] = failed_records_of(sent["failed_records"])
        if "answers" in sent:
            report["answers"] = tuple(StateAnswer.of_fields(fields) for fields in sent["answers"])
        if "rejections" in sent:
            report["rejections"] = RejectionReport.parse(sent["rejections"])
        return cls(**report)

    def text(self) -> str:
        """As it travels in a row."""
        return json.dumps(self.fields(), separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "TaskReport":
        """As it was sent in a row."""
        return cls.of_fields(json.loads(text))


_EMPTY: Final = TaskReport("", TaskStatus.COMMITTED)
_OPTIONAL: Final = tuple(
    (one.name, getattr(_EMPTY, one.name))
    for one in fields(TaskReport)
    if one.name not in {"task", "status", "rejections", "answers"}
)
"""What is left out where it says nothing."""
