"""What the tasks of a lane have reached in event time, at the start of a batch and at its end.

By the start it is judged which rows are late, by the end which windows are complete: within a batch the
order of records decides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamapp.control.message import ENDED
from streamapp_runtime.program.reach import Reach

Watermarks = Mapping[str, int | None]
"""The watermark of each stream that a task reads; None where there is none yet."""


@dataclass(slots=True)
class Clock:
    """The watermarks of operators, by task. Where an app has no event time there are none."""

    reaches: Mapping[str, Reach] = field(default_factory=dict)  # by operator
    start: Sequence[Watermarks] = ()  # by task
    end: list[Watermarks] = field(default_factory=list)
    reopens: bool = False  # whether streams that end go on in another turn

    def at_start(self, task: int, operator: str) -> int | None:
        """What comes before this is late."""
        return self.reaches[operator].watermark(self.start[task]) if operator in self.reaches else None

    def at_end(self, task: int, operator: str) -> int | None:
        """Everything before this has come."""
        return self.reaches[operator].watermark(self.end[task]) if operator in self.reaches else None

    def is_timed(self, operator: str) -> bool:
        """Whether anything that reaches the operator has event times."""
        return operator in self.reaches and self.reaches[operator].timed

    def past(self, task: int, operator: str) -> int | None:
        """State of before this is never asked for again.

        That a stream has ended closes all windows; where it goes on in another turn they are kept open for
        its rows.
        """
        reached = self.at_end(task, operator)
        return self.at_start(task, operator) if self.reopens and reached == ENDED else reached
