"""What a lane says of one task after a batch, as text that travels to the driver."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from streamapp_runtime.lanes.protocol.rejections import RejectionReport
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

    def text(self) -> str:
        """As it travels."""
        fields = asdict(self) | {"rejections": self.rejections.fields()}
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "TaskReport":
        """As it was sent."""
        fields: dict[str, Any] = json.loads(text)
        steps = tuple((name, seconds) for name, seconds in fields["steps"])
        counted = tuple((counter, name, number) for counter, name, number in fields["counted"])
        status = TaskStatus(fields["status"])
        rejections = RejectionReport.parse(fields["rejections"])
        return cls(
            **fields | {"status": status, "steps": steps, "counted": counted, "rejections": rejections}
        )
