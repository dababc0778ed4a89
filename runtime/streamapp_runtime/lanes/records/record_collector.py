"""Writing: rows of a batch gathered, encoded and put into partitions, in the order in which they came."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.partitioner_names import PartitionerName
from streamapp.tasks.partition import Partition
from streamapp_runtime.formats.message_envelope import close_envelopes
from streamapp_runtime.formats.record_format import RecordFormat, encoded_rows
from streamapp_runtime.formats.registered_keys import KeyedRecords
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.lanes.records.dead_letters import SideOutputStream
from streamapp_runtime.lanes.records.event_times import whole_milliseconds
from streamapp_runtime.lanes.records.metadata_columns import listed_headers
from streamapp_runtime.lanes.records.trace_headers import TraceHeaders, passed_headers
from streamapp_runtime.operators.stateless.stream_operations import Write
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices
from streamapp_runtime.systems.stream_system import RECORDS, RECORDS_WITH_HEADERS, RecordRefusedError


@dataclass(slots=True)
class RecordCollector:
    """The records that a lane is going to write in this batch."""

    formats: Mapping[str, RecordFormat]  # by the task that writes
    partitions: Mapping[str, int]  # by stream
    time_ms: int
    _letters: list[tuple[SideOutputStream, int, tuple[pa.Array, ...]]] = field(default_factory=list)
    _rows: dict[tuple[str, Write], list[Slice]] = field(default_factory=lambda: defaultdict(list))
    _traces: list[TraceHeaders] = field(default_factory=list)

    def put(self, task: str, write: Write, rows: Slice) -> None:
        """Gather rows that a task of the program writes to a stream."""
        if len(rows):
            self._rows[task, write].append(rows)

    def note_traces(self, traces: TraceHeaders | None) -> None:
        """Keep headers of records that were read, for what is made of them."""
        if traces is not None:
            self._traces.append(traces)

    def put_letters(self, stream: SideOutputStream, task: int, *columns: pa.Array) -> None:
        """Gather keys, values and maybe headers of a task's bad records, or late rows, for their stream."""
        self._letters.append((stream, task, columns))

    def headers_of_traces(self, rows: Slice) -> tuple[pa.Array, ...]:
        """The headers of the records that rows come of, as a column of letters; none where none has any."""
        headers = passed_headers(self._traces, rows)
        return () if headers is None else (headers,)

    def records(self, left_out: Collection[int]) -> Iterator[tuple[Partition, pa.RecordBatch, pa.Array]]:
        """The records of each partition with the tasks they are of; tasks that failed are left out."""
        for (task_name, write), slices in self._rows.items():
            rows = concat_slices(slices)
            if rows and left_out:
                rows = rows.filter(pc.invert(pc.is_in(rows.task, pa.array(sorted(left_out), pa.int32()))))
            if rows:
                records = self._encoded(self.formats[task_name], write, rows)
                count = self.partitions[write.stream]
                places = _Places(write.stream, count, write.partitioner, write.enveloped)
                yield from places.spread(records, rows.task)
        for letters, task, (keys, values, *headers) in self._letters:
            if task not in left_out:
                times, tasks = (np.full(len(keys), number) for number in (self.time_ms, task))
                columns = [keys, values, pa.array(times, pa.int64()), *headers]
                records = pa.record_batch(columns, schema=RECORDS_WITH_HEADERS if headers else RECORDS)
                places = _Places(letters.stream, letters.partitions, letters.partitioner)
                yield from places.spread(records, pa.array(tasks, pa.int32()))

    def _encoded(self, form: RecordFormat, write: Write, rows: Slice) -> pa.RecordBatch:
        columns, others = write.value_columns(rows.columns), list(rows.columns[len(form.schema) :])
        of_keys, others = others[: len(write.key_columns)], others[len(write.key_columns) :]
        keys = rows.key
        try:
            values = encoded_rows(form, pa.record_batch(list(columns), schema=form.schema), rows.tombstone)
            if isinstance(form, KeyedRecords):
                keys = form.keys.write(of_keys, rows.key, rows.tombstone)
        except ValueError as unfit:
            raise RecordRefusedError(f'"{write.stream}": {unfit}') from None
        if write.enveloped:
            values = close_envelopes(values)
        time = pc.fill_null(rows.time, self.time_ms)
        if write.timestamp:
            time = pc.coalesce(whole_milliseconds(others[0]), time)
        headers = listed_headers(others[-1]) if write.headers else None
        if write.traces:
            headers = passed_headers(self._traces, rows)
        if headers is None:
            return pa.record_batch([keys, values, time], schema=RECORDS)
        return pa.record_batch([keys, values, time, headers], schema=RECORDS_WITH_HEADERS)


@dataclass(frozen=True, slots=True)
class _Places:
    """The partitions of a stream, and the rule by which records are put into them."""

    stream: str
    count: int
    partitioner: PartitionerName
    nulls_together: bool = False  # null keys of a repartition are of one task

    def spread(
        self, records: pa.RecordBatch, tasks: pa.Array
    ) -> Iterator[tuple[Partition, pa.RecordBatch, pa.Array]]:
        """Records by the partitions that their keys belong to."""
        if self.count == 1:
            yield Partition(self.stream, 0), records, tasks
            return
        places = partition_of(
            records.column("key"),
            self.count,
            partitioner=self.partitioner,
            nulls_together=self.nulls_together,
        )
        order = np.argsort(places, kind="stable")
        ends = np.searchsorted(places[order], np.arange(self.count + 1))
        records, tasks = records.take(pa.array(order)), tasks.take(pa.array(order))
        for index in range(self.count):
            at, length = int(ends[index]), int(ends[index + 1] - ends[index])
            if length:
                yield Partition(self.stream, index), records.slice(at, length), tasks.slice(at, length)
