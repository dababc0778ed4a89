"""Batches with a watermark that goes on, as an operation sees them."""

import datetime
from collections.abc import Sequence

from streamapp.control.control_message import ENDED
from streamapp_runtime.operators.operation_executor import OperationExecutor
from streamapp_runtime.operators.state.event_clock import EventClock, WatermarkReach
from tests.harness.engine.plain_rows import Row
from tests.harness.engine.task_lane import TASKS, Lane


class Ticking:
    """A lane whose tasks all have the same watermark, of one stream."""

    def __init__(self, running: Lane, executor: OperationExecutor, operator: str) -> None:
        self.running, self.executor = running, executor
        self.reaches = {operator: WatermarkReach({"events": 0}, timed=True)}
        self.watermark: int | None = None

    def batch(self, calls, watermark: int | None, *, reopens: bool = False) -> list[Row]:
        """What goes out of a batch that begins with the last one's watermark and ends with this one."""
        clock = EventClock(
            self.reaches,
            [{"events": self.watermark}] * TASKS,
            [{"events": watermark}] * TASKS,
            reopens=reopens,
        )
        self.watermark = watermark
        return self.running.batch(self.executor, calls, clock=clock)

    def end(self, calls: Sequence[object] = (), *, reopens: bool = False) -> list[Row]:
        return self.batch(calls, ENDED, reopens=reopens)


def milliseconds(moment: datetime.datetime) -> int:
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return (moment - epoch) // datetime.timedelta(milliseconds=1)
