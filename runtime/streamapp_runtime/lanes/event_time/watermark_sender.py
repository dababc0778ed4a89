"""The control messages that the tasks of a lane write in one batch, after all its rows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from streamapp.control.control_message import ENDED, NO_BOUND
from streamapp.control.control_sender import LastSent
from streamapp.control.message_codec import encode_message
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import EventTimeProgress
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.lanes.event_time.watermark_receiver import WatermarkUpdate
from streamapp_runtime.systems.stream_system import RECORDS


@dataclass(slots=True)
class WatermarkSender:
    """The control messages of tasks, by partition: each reader has to hear from every upstream task."""

    keeping: EventTimeSetup
    now: int
    _values: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))

    def after(
        self, task: str, before: EventTimeProgress, update: WatermarkUpdate | None
    ) -> tuple[EventTimeProgress, int | None]:
        """The progress of a task once it has said what is due, and the time at which it speaks next."""
        keeping = self.keeping
        same_turn = before.turn == keeping.turn
        stream_watermarks = self._stream_watermarks(task, before, update) if update or same_turn else {}
        sent: dict[str, LastSent] = dict(before.sent) if same_turn else {}
        times = []
        for stream, outlet in keeping.outlets.items():
            if not keeping.speaks(task, outlet):
                continue
            sender = keeping.sender(task, stream)
            reached = outlet.reach.watermark(stream_watermarks)
            message = sender.due(reached, sent.get(stream), self.now)
            if message is not None:
                self._values[stream].append(encode_message(message) or b"")
                sent[stream] = sender.sent(message, self.now)
            at = sender.due_at(reached, sent.get(stream), self.now)
            times += [] if at is None else [at]
        watermarks = {stream: at for stream, at in stream_watermarks.items() if at is not None}
        bookkeeping = update.bookkeeping if update else before.heard
        closed = (
            self._closed(before, {**stream_watermarks, **(update.short if update else {})})
            if keeping.turn
            else {}
        )
        return EventTimeProgress(keeping.turn, watermarks, sent, bookkeeping, closed), min(
            times, default=None
        )

    def records(self) -> Iterator[tuple[Partition, pa.RecordBatch]]:
        """All messages, for every partition of the streams that they are for."""
        for stream, values in self._values.items():
            times = pa.array(np.full(len(values), self.now, np.int64))
            columns = [pa.nulls(len(values), pa.binary()), pa.array(values, pa.binary()), times]
            batch = pa.record_batch(columns, schema=RECORDS)
            for index in range(self.keeping.outlets[stream].partitions):
                yield Partition(stream, index), batch

    def _closed(
        self, before: EventTimeProgress, stream_watermarks: Mapping[str, int | None]
    ) -> dict[str, int]:
        """The watermarks of operators short of an end: rows that another turn brings from before are late."""
        closed = dict(before.closed)
        for operator, reach in self.keeping.states.items():
            at = reach.watermark(stream_watermarks)
            if at is not None and at < NO_BOUND:
                closed[operator] = max(at, closed.get(operator, at))
        return closed

    def _stream_watermarks(
        self, task: str, before: EventTimeProgress, update: WatermarkUpdate | None
    ) -> Mapping[str, int | None]:
        watermarks = update.watermarks if update else before.watermarks
        return {stream: watermarks.get(stream) for stream in self.keeping.streams(task)}


def has_ended(keeping: EventTimeSetup, task: str, reached: EventTimeProgress) -> bool:
    """True if nothing will come to a task any more: all its streams have ended, and it has told so."""
    watermarks = reached.watermarks if reached.turn == keeping.turn else {}
    return all(watermarks.get(stream) == ENDED for stream in keeping.streams(task))
