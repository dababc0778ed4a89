"""One batch in the first layer of a lane: records become rows, and move event time on."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.layers.layer_batch import LayerBatch
from streamapp_runtime.lanes.protocol.batch_orders import KnownRejection, ReadRange
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.lanes.protocol.traffic import BYTES_IN, ROWS_IN
from streamapp_runtime.lanes.records.key_check import key_check
from streamapp_runtime.lanes.records.record_decoding import DecodedRecords, RecordDecoder, RequestedRange
from streamapp_runtime.lanes.records.record_reader import DecodedRanges, read_records
from streamapp_runtime.lanes.records.rejection_counter import RejectionCounter
from streamapp_runtime.lanes.records.version_end import VersionEnd
from streamapp_runtime.operators.stateless.stream_operations import Read
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.systems.app_systems import StreamRange

READ_STEP = "read"
"""The step beside the operators: records fetched and decoded."""


class FirstLayerBatch(LayerBatch):
    """The records of one batch on their way into the lane."""

    def read(self) -> Iterator[pa.RecordBatch]:
        """The first layer: the records of all ranges, through the operations, out as wide rows.

        Side inputs go first, and behind them the word that they are all there: so a table that is to have
        them before it is joined has them, and none takes a part of a range for the whole.
        """
        known: defaultdict[tuple[str, int], dict[int, KnownRejection]] = defaultdict(dict)
        for one in self.orders.skip:
            known[one.stream, one.partition][one.offset] = one
        requests = [
            RequestedRange(self._held(one), index, number, known.get((one.stream, one.partition), {}))
            for number, (index, one) in enumerate(self.ranges)
        ]
        self.context.systems.fetch_ahead(
            [self._offsets(one) for one in requests if one.task not in self.failed]
        )
        for group in joint_requests([request for request in requests if self._fills_table(request)]):
            ends: dict[int, VersionEnd] = {}
            yield from self._records(group, ends)
            for request in group:
                if request.task not in self.failed and not request.range.only_rejects:
                    self.side_inputs.note_range(request.task, request.range, ends.get(request.number))
        if self.side_inputs.arrived and not self.context.last:
            yield self.context.wide.from_reports(self.side_inputs.arrival())
        for group in joint_requests([request for request in requests if not self._fills_table(request)]):
            yield from self._records(group, {})
        if self.time:
            self.time.finish_reading(self.failed)

    def _records(
        self, requests: Sequence[RequestedRange], ends: dict[int, VersionEnd]
    ) -> Iterator[pa.RecordBatch]:
        """The records of some ranges of one stream, handed on.

        `ends` gets, by the number of a range, where the version of a bounded data set ends in it.
        """
        stream, setup = requests[0].range.stream, self.context.setup
        read, outputs = self.context.reads[stream]
        counters = {
            request.number: RejectionCounter(
                setup.rejection,
                self.lane.tasks[request.task].rejections,
                stream,
                request.range.partition,
                show_values=setup.show_values,
            )
            for request in requests
        }
        keys = key_check(read, setup.placements)
        decoder = RecordDecoder(read, self.context.formats[stream], self.orders.time_ms, keys)
        ranges = read_records(decoder, requests, self.context.systems, self.failed)
        for decoded in self.times.making(READ_STEP, ranges):
            for part in decoded.parts:
                if part.end:
                    ends[part.request.number] = part.end
                yield from self._note(read, part, counters[part.request.number])
            rows = None if requests[0].range.only_rejects else self._healthy_rows(decoded)
            if rows:
                yield from self.run({edge.tag: rows for edge in outputs})
                self._count_rejected(decoded.parts, counters)
        for request in requests:
            self.rejections[request.task].add(counters[request.number].report())

    def _note(
        self, read: Read, records: DecodedRecords, counter: RejectionCounter
    ) -> Iterator[pa.RecordBatch]:
        """Count the records of a range, do with the bad ones as the app wants, and move event time on."""
        asked, index = records.request.range, records.request.task
        if index in self.failed:
            return
        count = (len(records.rows) if records.rows else 0) + len(records.bad)
        self.rows_in[index] += count
        self.state.count(ROWS_IN, read.stream, count)
        self.bytes_in[index] += records.size
        self.state.count(BYTES_IN, read.stream, records.size)
        yield from self.set_aside(index, records.bad, asked)
        if self.sets_aside(index, asked) and (excess := counter.count(records)):
            self.fail_task(index, TaskStatus.EXCESS, excess)
        if self.time and index not in self.failed and not asked.only_rejects:
            self.time.receive(index, Partition(asked.stream, asked.partition), records)

    def _healthy_rows(self, decoded: DecodedRanges) -> Slice | None:
        """The rows of tasks that have not failed; None where there are none."""
        rows = decoded.rows
        if rows and any(part.request.task in self.failed for part in decoded.parts):
            rows = rows.filter(pa.array(~np.isin(rows.task.to_numpy(), sorted(self.failed))))
        return rows if rows and len(rows) else None

    def _count_rejected(self, parts: Sequence[DecodedRecords], counters: dict[int, RejectionCounter]) -> None:
        """Count the records that operations have rejected."""
        for part in parts if self.rejected_rows else ():
            partition, task = part.request.range.partition, part.request.task
            if not part.rows or task in self.failed or not self.sets_aside(task, part.request.range):
                continue
            first, last = part.rows.offset[0].as_py(), part.rows.offset[-1].as_py()
            rejected = [
                one
                for one in self.rejected_rows
                if one.partition == partition and first <= one.offset <= last
            ]
            if excess := counters[part.request.number].count_later(part.rows.offset, rejected):
                self.fail_task(task, TaskStatus.EXCESS, excess)
        self.rejected_rows.clear()

    def _held(self, asked: ReadRange) -> ReadRange:
        """The offsets that the stream still has of an `only_rejects` range; others are as they are."""
        if not asked.only_rejects:
            return asked
        partition = Partition(asked.stream, asked.partition)
        oldest = self.context.systems.spans([partition])[partition].oldest
        return replace(asked, start=min(max(asked.start, oldest), asked.end))

    def _offsets(self, request: RequestedRange) -> StreamRange:
        asked = request.range
        read, _ = self.context.reads[asked.stream]
        return StreamRange(Partition(asked.stream, asked.partition), asked.start, asked.end, read.headers)

    def _fills_table(self, request: RequestedRange) -> bool:
        return self.context.reads[request.range.stream][0].table is not None


def joint_requests(requests: Sequence[RequestedRange]) -> list[list[RequestedRange]]:
    """Ranges of one stream together, such that the ranges of each task stay in their order."""
    groups: dict[tuple[int, str, bool], list[RequestedRange]] = {}
    turns: dict[int, tuple[int, str, bool]] = {}  # by task: the group of its last range
    for request in requests:
        asked = request.range
        turn, stream, only_rejects = turns.get(request.task, (0, asked.stream, asked.only_rejects))
        if (stream, only_rejects) != (asked.stream, asked.only_rejects):
            turn += 1
        group = turn, asked.stream, asked.only_rejects
        turns[request.task] = group
        groups.setdefault(group, []).append(request)
    return [groups[group] for group in sorted(groups)]
