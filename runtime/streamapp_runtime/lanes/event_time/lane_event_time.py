"""Event time in one batch of one lane, as one layer knows it: heard in the first, handed on to all others."""

from collections.abc import Collection
from dataclasses import dataclass, field

from streamapp.control.control_message import ENDED
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, EventTimeProgress
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.lanes.event_time.watermark_receiver import (
    BookkeepingCache,
    WatermarkReceiver,
    WatermarkUpdate,
)
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder
from streamapp_runtime.lanes.records.record_reader import DecodedRecords
from streamapp_runtime.operators.state.event_clock import EventClock


@dataclass(slots=True)
class LaneEventTime:
    """What the lane's tasks had reached before the batch, and what they reach in it."""

    keeping: EventTimeSetup
    lane: LaneOrder
    now: int
    memory: BookkeepingCache
    before: list[EventTimeProgress] = field(init=False)  # by task
    clock: EventClock = field(init=False)
    news: dict[int, WatermarkUpdate] = field(default_factory=dict)  # of tasks of which there is any
    _checkpoints: list[Checkpoint | None] = field(init=False)
    _listening: dict[int, WatermarkReceiver] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keeping = self.keeping
        self._checkpoints = [
            Checkpoint.decode(task.committed) if task.committed else None for task in self.lane.tasks
        ]
        self.before = [keeping.reached(checkpoint) for checkpoint in self._checkpoints]
        start = [self._watermarks(index, reached) for index, reached in enumerate(self.before)]
        closed = [reached.closed for reached in self.before]
        self.clock = EventClock(keeping.states, start, list(start), bool(keeping.turn), closed)

    def hear(self, index: int, partition: Partition, taken: DecodedRecords) -> None:
        """What the records of a partition say of event time."""
        for message in taken.control:
            self._of(index).hear(partition, message)
        if taken.newest is not None:
            self._of(index).reach(partition, taken.newest)

    def listen(self, failed: Collection[int]) -> None:
        """Everything was read: reckon what each task has reached."""
        for index in range(len(self.lane.tasks)):
            if index not in failed and (index in self._listening or self._may_move(index)):
                self.take(index, self._of(index).news())

    def take(self, index: int, news: WatermarkUpdate) -> None:
        """What the first layer has told of a task."""
        self.news[index] = news
        self.clock.end[index] = {s: news.watermarks.get(s) for s in self.clock.start[index]}
        self.clock.short[index] = {**self.clock.end[index], **news.short}

    def _of(self, index: int) -> WatermarkReceiver:
        if index not in self._listening:
            self._listening[index] = WatermarkReceiver(
                self.keeping, self.lane.tasks[index], self._checkpoints[index], self.now, self.memory
            )
        return self._listening[index]

    def _may_move(self, index: int) -> bool:
        """Whether anything can be new of a task that has read nothing."""
        order, before = self.lane.tasks[index], self.clock.start[index]
        if order.inherited or order.behind or self.keeping.idle_rules:
            return True
        new = any(before.get(stream) != ENDED for stream, _ in order.ended)
        return new or None in before.values() or not self.before[index].heard

    def _watermarks(self, index: int, reached: EventTimeProgress) -> dict[str, int | None]:
        streams = self.keeping.streams(self.lane.tasks[index].name)
        told = reached.watermarks if reached.turn == self.keeping.turn else {}
        return {stream: told.get(stream) for stream in streams}
