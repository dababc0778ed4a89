"""The watermark that a task has of a stream: the lowest of its partitions, told once each time it rises."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamapp.control.idle_rule import IdleRule
from streamapp.control.upstream import UpstreamProgress


@dataclass(frozen=True, slots=True)
class WatermarkPolicy:
    """The rules for reading the watermarks of a stream."""

    run: str | None = None  # only messages of this run count; None: those of the newest, as of another app
    idle_tasks: IdleRule | None = None  # which upstream tasks a partition may go on without
    idle_partitions: IdleRule | None = None  # which of its partitions the stream may go on without


@dataclass(slots=True)
class StreamWatermark:
    """One stream as one task reads it."""

    partitions: dict[int, UpstreamProgress]
    emitted: int | None = None  # told to the task last; a partition that comes later does not take it back

    def advance(self, now: int, reading: WatermarkPolicy) -> int | None:
        """The watermark to tell the task, None where it has not moved since the last one."""
        watermarks = {
            index: upstream.advance(now, reading.idle_tasks) for index, upstream in self.partitions.items()
        }
        if self._moves(lowest_watermark(watermarks.values())) or self._moves(
            self._without_idle(watermarks, now, reading)
        ):
            return self.emitted
        return None

    def _moves(self, watermark: int | None) -> bool:
        if watermark is None or (self.emitted is not None and watermark <= self.emitted):
            return False
        self.emitted = watermark
        return True

    def _without_idle(
        self, watermarks: Mapping[int, int | None], now: int, reading: WatermarkPolicy
    ) -> int | None:
        if reading.idle_partitions is None or not watermarks:
            return None
        spoken = {index: upstream.spoken for index, upstream in self.partitions.items()}
        timeout = reading.idle_partitions.timeout
        # Who is heard and has no watermark yet is about to have one, and may not be left behind.
        if any(watermarks[i] is None and at is not None and now - at < timeout for i, at in spoken.items()):
            return None
        return reading.idle_partitions.lowest_active(
            {index: watermark for index, watermark in watermarks.items() if watermark is not None},
            {index: at for index, at in spoken.items() if at is not None},
            len(watermarks),
            min(upstream.since for upstream in self.partitions.values()),
            now,
        )


def lowest_watermark(watermarks: Iterable[int | None]) -> int | None:
    """The watermark of things that go on together: None while one of them has none, or for nothing at all."""
    least: int | None = None
    for watermark in watermarks:
        if watermark is None:
            return None
        least = watermark if least is None else min(least, watermark)
    return least
