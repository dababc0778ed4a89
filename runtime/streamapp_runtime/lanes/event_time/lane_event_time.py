"""Event time in one batch of one lane: received with the records, then known to operations and commit."""

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
from streamapp_runtime.lanes.records.record_decoding import DecodedRecords
from streamapp_runtime.operators.state.event_clock import EventClock


@dataclass(slots=True)
class LaneEventTime:
    """The event-time progress of the lane's tasks before the batch, and in it."""

    setup: EventTimeSetup
    lane: LaneOrder
    now: int
    cache: BookkeepingCache
    before: list[EventTimeProgress] = field(init=False)  # by task
    clock: EventClock = field(init=False)
    updates: dict[int, WatermarkUpdate] = field(default_factory=dict)  # by task, where there are any
    _checkpoints: list[Checkpoint | None] = field(init=False)
    _receivers: dict[int, WatermarkReceiver] = field(default_factory=dict)

    def __post_init__(self) -> None:
        setup = self.setup
        self._checkpoints = [
            Checkpoint.decode(task.committed) if task.committed else None for task in self.lane.tasks
        ]
        self.before = [setup.reached(checkpoint) for checkpoint in self._checkpoints]
        start = [self._watermarks(index, reached) for index, reached in enumerate(self.before)]
        closed = [reached.closed for reached in self.before]
        self.clock = EventClock(setup.states, start, list(start), bool(setup.turn), closed)

    def receive(self, index: int, partition: Partition, records: DecodedRecords) -> None:
        """Take the control messages and the newest event time among the records of a partition."""
        for message in records.control:
            self._of(index).hear(partition, message)
        if records.newest is not None:
            self._of(index).reach(partition, records.newest)

    def finish_reading(self, failed: Collection[int]) -> None:
        """Everything was read: reckon what each task has reached."""
        for index in range(len(self.lane.tasks)):
            if index not in failed and (index in self._receivers or self._may_move(index)):
                self._take_update(index, self._of(index).update())

    def _take_update(self, index: int, update: WatermarkUpdate) -> None:
        self.updates[index] = update
        self.clock.end[index] = {s: update.watermarks.get(s) for s in self.clock.start[index]}
        self.clock.short[index] = {**self.clock.end[index], **update.short}

    def _of(self, index: int) -> WatermarkReceiver:
        if index not in self._receivers:
            self._receivers[index] = WatermarkReceiver(
                self.setup, self.lane.tasks[index], self._checkpoints[index], self.now, self.cache
            )
        return self._receivers[index]

    def _may_move(self, index: int) -> bool:
        """True if anything can be new of a task that has read nothing."""
        order, before = self.lane.tasks[index], self.clock.start[index]
        if order.inherited_bookkeeping or order.lagging or self.setup.idle_rules:
            return True
        new = any(before.get(stream) != ENDED for stream, _ in order.ended)
        return new or None in before.values() or not self.before[index].heard

    def _watermarks(self, index: int, reached: EventTimeProgress) -> dict[str, int | None]:
        streams = self.setup.streams(self.lane.tasks[index].name)
        watermarks = reached.watermarks if reached.turn == self.setup.turn else {}
        return {stream: watermarks.get(stream) for stream in streams}
