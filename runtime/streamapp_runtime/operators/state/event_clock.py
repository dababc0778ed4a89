"""The event time that the tasks of a lane have reached, at the start of a batch and at its end.

By the start it is judged which rows are late, by the end which windows are complete: within a batch the
order of records decides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamapp.control.control_message import EARLIEST, ENDED, NO_BOUND
from streamapp.control.stream_watermark import lowest_watermark


@dataclass(frozen=True, slots=True)
class WatermarkReach:
    """The streams whose rows come to a place, each with the milliseconds that they may be behind there."""

    holds: Mapping[str, int]
    timed: bool = False  # whether any of the streams has event times

    def watermark(self, of_streams: Mapping[str, int | None]) -> int | None:
        """The watermark of the place, from those of the streams that a task reads.

        Without event times in any of the streams only their end is a watermark.
        """
        watermarks = [
            _held(of_streams[stream], by) for stream, by in self.holds.items() if stream in of_streams
        ]
        reached = lowest_watermark(watermarks)
        return reached if self.timed or reached == ENDED else None


Watermarks = Mapping[str, int | None]
"""The watermark of each stream that a task reads; None where there is none yet."""


@dataclass(slots=True)
class EventClock:
    """The watermarks of operators, by task. Where an app has no event time there are none."""

    reaches: Mapping[str, WatermarkReach] = field(default_factory=dict)  # by operator
    start: Sequence[Watermarks] = ()  # by task
    end: list[Watermarks] = field(default_factory=list)
    reopens: bool = False  # whether streams that end go on in another turn
    closed: Sequence[Mapping[str, int]] = ()  # by task and operator: what was reached in earlier turns
    short: dict[int, Watermarks] = field(default_factory=dict)  # by task: at the end, but for ends

    def at_start(self, task: int, operator: str) -> int | None:
        """The watermark before which rows are late."""
        return self._reached(task, operator, self.start)

    def at_end(self, task: int, operator: str) -> int | None:
        """Everything before this has come."""
        return self._reached(task, operator, self.end)

    def _reached(self, task: int, operator: str, watermarks: Sequence[Watermarks]) -> int | None:
        if operator not in self.reaches:
            return None
        reached = self.reaches[operator].watermark(watermarks[task])
        before = self.closed[task].get(operator) if self.closed else None
        return max((at for at in (reached, before) if at is not None), default=None)

    def is_timed(self, operator: str) -> bool:
        """True if anything that reaches the operator has event times."""
        return operator in self.reaches and self.reaches[operator].timed

    def past(self, task: int, operator: str) -> int | None:
        """State of before this is never asked for again.

        That a stream has ended closes all windows. Where it continues in another turn those are kept for its
        rows that the watermark had not passed.
        """
        reached = self.at_end(task, operator)
        if not self.reopens or reached != ENDED:
            return reached
        before = self.at_start(task, operator)
        short = self.reaches[operator].watermark(self.short.get(task, {}))
        watermarks = [at for at in (before, short) if at is not None and at != ENDED]
        return before if before == ENDED else max(watermarks, default=None)


def _held(watermark: int | None, by: int) -> int | None:
    if watermark is None or watermark >= NO_BOUND:
        return watermark
    return max(watermark - by, EARLIEST)
