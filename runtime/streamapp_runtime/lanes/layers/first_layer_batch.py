"""One batch in the first layer of a lane: records become rows, and are heard for what they say of time."""

from collections.abc import Generator, Iterator
from dataclasses import replace

import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.layers.layer_batch import LayerBatch
from streamapp_runtime.lanes.protocol.traffic import BYTES_IN
from streamapp_runtime.lanes.records.record_reader import RequestedRange, read_records
from streamapp_runtime.lanes.records.version_end import VersionEnd

READ_STEP = "read"
"""The step beside the operators: records fetched and decoded."""


class FirstLayerBatch(LayerBatch):
    """The records of one batch on their way into the lane."""

    def read(self) -> Iterator[pa.RecordBatch]:
        """The first layer: the records of all ranges, through the operations, out as wide rows.

        Side inputs go first, and behind them the word that they are all there: so a table that is to have
        them before it is joined has them, and none takes a part of a range for the whole.
        """
        every = [(index, found) for index, task in enumerate(self.lane.tasks) for found in task.ranges]
        asked = [RequestedRange(found, index, number, {}) for number, (index, found) in enumerate(every)]
        sides = [each for each in asked if self._fills(each)]
        for each in sides:
            end = yield from self._records(each)
            if each.task not in self.failed:
                self.sides.came(each.task, each.range, end)
        if self.sides.arrived and not self.stage.last:
            yield self.stage.wide.from_reports(self.sides.arrival())
        for each in asked:
            if not self._fills(each):
                yield from self._records(each)
        if self.time:
            self.time.listen(self.failed)

    def _records(self, asked: RequestedRange) -> Generator[pa.RecordBatch, None, VersionEnd | None]:
        """The records of one range, handed on; where the version of a bounded data set ends in it."""
        stream, index = asked.range.stream, asked.task
        read, outputs = self.stage.reads[stream]
        place = stream, asked.range.partition
        known = {offset: why for s, p, offset, why in self.orders.skip if (s, p) == place}
        chunks = read_records(read, self.stage.forms[stream], replace(asked, known=known), self.stage.system)
        for taken in () if index in self.failed else self.times.making(READ_STEP, chunks):
            count = len(taken.rows) if taken.rows else 0
            self.rows_in[index] += count + len(taken.bad)
            self.bytes_in[index] += taken.size
            self.state.count(BYTES_IN, read.topic, taken.size)
            yield from self.set_aside(index, taken.bad)
            if index in self.failed:
                break
            if self.time:
                self.time.hear(index, Partition(*place), taken)
            if taken.rows and count:
                yield from self.run({edge.tag: taken.rows for edge in outputs})
            if taken.end:
                return taken.end
        return None

    def _fills(self, asked: RequestedRange) -> bool:
        return self.stage.reads[asked.range.stream][0].table is not None
