"""The watermarks that an app has reached, for all that is said of them.

They follow from those of its tasks by the rule by which rows go out: who has heard nothing of a stream holds
it back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from streamapp.control.control_message import NO_BOUND
from streamapp.control.stream_watermark import lowest_watermark
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.operators.state.event_clock import WatermarkReach, Watermarks


@dataclass(frozen=True, slots=True)
class ReachedWatermarks:
    """The watermarks of an app after a batch."""

    tasks: Mapping[str, Watermarks] = field(default_factory=dict)  # of all streams that each task reads
    streams: Mapping[str, int] = field(init=False)  # what all tasks that read a stream have reached of it

    def __post_init__(self) -> None:
        by_stream: dict[str, list[int | None]] = {}
        for watermarks in self.tasks.values():
            for stream, watermark in watermarks.items():
                by_stream.setdefault(stream, []).append(watermark)
        lowest = {stream: lowest_watermark(watermarks) for stream, watermarks in by_stream.items()}
        reached = {stream: at for stream, at in lowest.items() if at is not None and at < NO_BOUND}
        object.__setattr__(self, "streams", reached)

    @classmethod
    def of(cls, time: EventTimeSetup | None, reported: Mapping[str, Mapping[str, int]]) -> Self:
        """By what each task has reported of its streams last; without event time there are none."""
        if time is None:
            return cls()
        return cls(
            {
                task: {stream: reported.get(task, {}).get(stream) for stream in sorted(time.streams(task))}
                for task in time.partitions
            }
        )

    def in_task(self, reach: WatermarkReach, task: str) -> int | None:
        """The watermark of a place of the program in a task."""
        return reach.watermark(self.tasks.get(task, {}))

    def lowest(self, reach: WatermarkReach) -> int | None:
        """The watermark of a place of the program in all tasks that have it; None while one has none."""
        having = [
            task for task, watermarks in self.tasks.items() if not reach.holds.keys().isdisjoint(watermarks)
        ]
        lowest = lowest_watermark(self.in_task(reach, task) for task in having)
        return None if lowest is None or lowest >= NO_BOUND else lowest
