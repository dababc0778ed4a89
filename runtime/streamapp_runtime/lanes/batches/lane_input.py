"""The records of one batch on their way into a lane: they become rows, and move event time on."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.batches.lane_batch import LaneBatch
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


@dataclass(frozen=True, slots=True)
class LaneInput:
    """The ranges that a lane is ordered to read in a batch."""

    batch: LaneBatch

    def read(self) -> None:
        """Hand the records of all ranges to the operations.

        Side inputs go first: so a table that is to have them before it is joined has them.
        """
        batch = self.batch
        known: defaultdict[tuple[str, int], dict[int, KnownRejection]] = defaultdict(dict)
        for one in batch.orders.skip:
            known[one.stream, one.partition][one.offset] = one
        requests = [
            RequestedRange(self._held(one), index, number, known.get((one.stream, one.partition), {}))
            for number, (index, one) in enumerate(batch.ranges)
        ]
        batch.context.systems.fetch_ahead(
            [self._offsets(one) for one in requests if one.task not in batch.failures]
        )
        for group in joint_requests([request for request in requests if self._fills_table(request)]):
            ends: dict[int, VersionEnd] = {}
            self._read(group, ends)
            for request in group:
                if request.task not in batch.failures and not request.range.only_rejects:
                    batch.side_inputs.note_range(request.task, request.range, ends.get(request.number))
        for group in joint_requests([request for request in requests if not self._fills_table(request)]):
            self._read(group, {})
        if batch.time:
            batch.time.finish_reading(batch.failures)

    def _read(self, requests: Sequence[RequestedRange], ends: dict[int, VersionEnd]) -> None:
        """Hand on the records of some ranges of one stream.

        `ends` gets, by the number of a range, where the version of a bounded data set ends in it.
        """
        batch = self.batch
        stream, setup = requests[0].range.stream, batch.context.setup
        read, outputs = batch.context.reads[stream]
        counters = {
            request.number: RejectionCounter(
                setup.rejection,
                batch.lane.tasks[request.task].rejections,
                stream,
                request.range.partition,
                show_values=setup.show_values,
            )
            for request in requests
        }
        keys = key_check(read, setup.placements)
        decoder = RecordDecoder(read, batch.context.formats[stream], batch.orders.time_ms, keys)
        ranges = read_records(decoder, requests, batch.context.systems, batch.failures)
        for decoded in batch.times.making(READ_STEP, ranges):
            for part in decoded.parts:
                if part.end:
                    ends[part.request.number] = part.end
                self._note(read, part, counters[part.request.number])
            batch.outbox.note_traces(decoded.traces)
            rows = None if requests[0].range.only_rejects else self._healthy_rows(decoded)
            if rows:
                batch.run({edge.tag: rows for edge in outputs})
                self._count_rejected(decoded.parts, counters)
        for request in requests:
            batch.counts[request.task].rejections.add(counters[request.number].report())

    def _note(self, read: Read, records: DecodedRecords, counter: RejectionCounter) -> None:
        """Count the records of a range, do with the bad ones as the app wants, and move event time on."""
        batch, asked, index = self.batch, records.request.range, records.request.task
        if index in batch.failures:
            return
        count = (len(records.rows) if records.rows else 0) + len(records.bad)
        batch.counts[index].rows_in += count
        batch.state.count(ROWS_IN, read.stream, count)
        batch.counts[index].bytes_in += records.size
        batch.state.count(BYTES_IN, read.stream, records.size)
        if records.first_at is not None and read.table is None:
            batch.first_at.setdefault(read.stream, records.first_at)
            batch.first_at[read.stream] = min(batch.first_at[read.stream], records.first_at)
        batch.set_aside(index, records.bad, asked)
        if batch.sets_aside(index, asked) and (excess := counter.count(records)):
            batch.fail_task(index, TaskStatus.EXCESS, excess)
        if batch.time and index not in batch.failures and not asked.only_rejects:
            batch.time.receive(index, Partition(asked.stream, asked.partition), records)

    def _healthy_rows(self, decoded: DecodedRanges) -> Slice | None:
        """The rows of tasks that have not failed; None where there are none."""
        rows = decoded.rows
        failed = self.batch.failures
        if rows and any(part.request.task in failed for part in decoded.parts):
            rows = rows.filter(pa.array(~np.isin(rows.task.to_numpy(), sorted(failed))))
        return rows if rows and len(rows) else None

    def _count_rejected(self, parts: Sequence[DecodedRecords], counters: dict[int, RejectionCounter]) -> None:
        """Count the records that operations have rejected."""
        batch = self.batch
        for part in parts if batch.rejected_rows else ():
            partition, task = part.request.range.partition, part.request.task
            if not part.rows or task in batch.failures or not batch.sets_aside(task, part.request.range):
                continue
            first, last = part.rows.offset[0].as_py(), part.rows.offset[-1].as_py()
            rejected = [
                one
                for one in batch.rejected_rows
                if one.partition == partition and first <= one.offset <= last
            ]
            if excess := counters[part.request.number].count_later(part.rows.offset, rejected):
                batch.fail_task(task, TaskStatus.EXCESS, excess)
        batch.rejected_rows.clear()

    def _held(self, asked: ReadRange) -> ReadRange:
        """The offsets that the stream still has of an `only_rejects` range; others are as they are."""
        if not asked.only_rejects:
            return asked
        partition = Partition(asked.stream, asked.partition)
        oldest = self.batch.context.systems.spans([partition])[partition].oldest
        return replace(asked, start=min(max(asked.start, oldest), asked.end))

    def _offsets(self, request: RequestedRange) -> StreamRange:
        asked = request.range
        read, _ = self.batch.context.reads[asked.stream]
        return StreamRange(Partition(asked.stream, asked.partition), asked.start, asked.end, read.headers)

    def _fills_table(self, request: RequestedRange) -> bool:
        return self.batch.context.reads[request.range.stream][0].table is not None


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
