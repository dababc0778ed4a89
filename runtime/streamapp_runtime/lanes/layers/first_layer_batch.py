"""One batch in the first layer of a lane: records become rows, and move event time on."""

from collections.abc import Generator, Iterator
from dataclasses import replace

import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.layers.layer_batch import LayerBatch
from streamapp_runtime.lanes.protocol.batch_orders import ReadRange
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.lanes.protocol.traffic import BYTES_IN
from streamapp_runtime.lanes.records.key_check import key_check
from streamapp_runtime.lanes.records.record_reader import RequestedRange, read_records
from streamapp_runtime.lanes.records.rejection_counter import RejectionCounter
from streamapp_runtime.lanes.records.version_end import VersionEnd
from streamapp_runtime.operators.stateless.stream_operations import Read

READ_STEP = "read"
"""The step beside the operators: records fetched and decoded."""


class FirstLayerBatch(LayerBatch):
    """The records of one batch on their way into the lane."""

    def read(self) -> Iterator[pa.RecordBatch]:
        """The first layer: the records of all ranges, through the operations, out as wide rows.

        Side inputs go first, and behind them the word that they are all there: so a table that is to have
        them before it is joined has them, and none takes a part of a range for the whole.
        """
        now = self.orders.time_ms
        requests = [
            RequestedRange(one, index, number, {}, now) for number, (index, one) in enumerate(self.ranges)
        ]
        for request in requests:
            if self._fills_table(request):
                end = yield from self._records(request)
                if request.task not in self.failed and not request.range.only_rejects:
                    self.side_inputs.note_range(request.task, request.range, end)
        if self.side_inputs.arrived and not self.context.last:
            yield self.context.wide.from_reports(self.side_inputs.arrival())
        for request in requests:
            if not self._fills_table(request):
                yield from self._records(request)
        if self.time:
            self.time.finish_reading(self.failed)

    def _records(self, request: RequestedRange) -> Generator[pa.RecordBatch, None, VersionEnd | None]:
        """The records of one range, handed on; where the version of a bounded data set ends in it."""
        stream, index = request.range.stream, request.task
        read, outputs = self.context.reads[stream]
        place = stream, request.range.partition
        if request.range.only_rejects:
            request = replace(request, range=self._held(read, request.range))
        known = {one.offset: one for one in self.orders.skip if (one.stream, one.partition) == place}
        before = self.lane.tasks[index].rejections
        rejections, end = RejectionCounter(self.context.setup.rejection, before, *place), None
        keys = key_check(read, request.range, self.context.setup.placements)
        request = replace(request, known=known, keys=keys)
        chunks = read_records(read, self.context.formats[stream], request, self.context.system)
        for chunk in () if index in self.failed else self.times.making(READ_STEP, chunks):
            count = len(chunk.rows) if chunk.rows else 0
            self.rows_in[index] += count + len(chunk.bad)
            self.bytes_in[index] += chunk.size
            self.state.count(BYTES_IN, read.topic, chunk.size)
            yield from self.set_aside(index, chunk.bad, request.range)
            if excess := rejections.count(chunk):
                self.fail_task(index, TaskStatus.EXCESS, excess)
            if index in self.failed:
                break
            if request.range.only_rejects:
                continue
            if self.time:
                self.time.receive(index, Partition(*place), chunk)
            if chunk.rows and count:
                yield from self.run({edge.tag: chunk.rows for edge in outputs})
                if excess := rejections.count_later(chunk.rows.offset, self.rejected_rows):
                    self.fail_task(index, TaskStatus.EXCESS, excess)
                self.rejected_rows.clear()
            end = chunk.end or end
        self.rejections[index].add(rejections.report())
        return end

    def _held(self, read: Read, asked: ReadRange) -> ReadRange:
        """What the stream still has of a range."""
        partition = Partition(read.topic, asked.partition)
        oldest = self.context.system.spans([partition])[partition].oldest
        return replace(asked, start=min(max(asked.start, oldest), asked.end))

    def _fills_table(self, request: RequestedRange) -> bool:
        return self.context.reads[request.range.stream][0].table is not None
