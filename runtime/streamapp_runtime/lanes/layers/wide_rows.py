"""Between slices of one edge and the wide rows that Spark carries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.program.program import CHANGELOG_TAG, REPORT_TAG, Program, RowEdge
from streamapp_runtime.program.registers import BATCH_TIME
from streamapp_runtime.rows.slice import Slice

SLICE_COLUMNS = ("task", "k", "t", "z", "src", "off")
"""The fixed columns of a row that a slice has too."""
DEAD_LETTER_TAG = -3
"""The tag of bad records on their way to the write layer."""
LATE_ROW_TAG = -4
"""The same of late rows."""
CODE_ERROR_TAG = -5
"""The same of records on which the app's own Python fails."""
VALUE_REGISTER, NAME_REGISTER = "y0", "s0"
"""Where a changelog entry has its value and its table, and a report its text."""


class WideRows:
    """Builds and takes apart record batches of a program's wide row."""

    def __init__(self, program: Program) -> None:
        self.schema = arrow_schema(program.registers)
        self._clock = BATCH_TIME.name in self.schema.names

    def from_slice(self, rows: Slice, edge: RowEdge, time_ms: int) -> pa.RecordBatch:
        """A slice as rows on an edge."""
        registers = dict(zip(edge.registers, rows.columns, strict=True))
        return self._batch(edge.tag, rows, registers, time_ms)

    def from_changelog(self, table: str, task: int, keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
        """A task's changelog entries; a null value deletes."""
        blank = blank_slice(len(keys), task)
        rows = Slice(blank.task, keys, blank.time, values.is_null(), blank.source, blank.offset, ())
        names = pa.array([table] * len(keys), pa.string())
        return self._batch(CHANGELOG_TAG, rows, {VALUE_REGISTER: values, NAME_REGISTER: names}, 0)

    def from_letters(self, tag: int, task: int, keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
        """A task's bad records, or late rows, as they are to be written."""
        return self._batch(tag, replace(blank_slice(len(keys), task), key=keys), {VALUE_REGISTER: values}, 0)

    def from_reports(self, reports: Sequence[tuple[int, str]]) -> pa.RecordBatch:
        """The rows of a worker's reports about tasks."""
        rows = blank_slice(len(reports), 0)
        tasks = pa.array([task for task, _ in reports], pa.int32())
        rows = Slice(tasks, rows.key, rows.time, rows.tombstone, rows.source, rows.offset, ())
        return self._batch(
            REPORT_TAG, rows, {NAME_REGISTER: pa.array([text for _, text in reports], pa.string())}, 0
        )

    def by_tag(self, batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows of each tag, in the order in which they stand."""
        tags = pc.unique(batch.column("tag")).to_pylist()
        for tag in tags:
            yield tag, batch if len(tags) == 1 else batch.filter(pc.equal(batch.column("tag"), tag))

    def to_slice(self, batch: pa.RecordBatch, edge: RowEdge) -> Slice:
        """The rows of one edge."""
        task, key, time, tombstone, source, offset = (batch.column(name) for name in SLICE_COLUMNS)
        columns = tuple(batch.column(register) for register in edge.registers)
        return Slice(task, key, time, tombstone, source, offset, columns)

    def _batch(
        self, tag: int, rows: Slice, registers: Mapping[str, pa.Array], time_ms: int
    ) -> pa.RecordBatch:
        count = len(rows)
        fixed = {
            "tag": pa.array(np.full(count, tag, np.int32)),
            "task": rows.task,
            "k": rows.key,
            "t": rows.time,
            "z": rows.tombstone,
            "src": rows.source,
            "off": rows.offset,
        }
        if self._clock:
            now = pa.array(np.full(count, time_ms * 1000, np.int64))
            fixed[BATCH_TIME.name] = now.cast(pa.timestamp("us", "UTC"))
        values = fixed | dict(registers)
        columns = [values.get(f.name) for f in self.schema]
        return pa.record_batch(
            [pa.nulls(count, f.type) if c is None else c for c, f in zip(columns, self.schema, strict=True)],
            schema=self.schema,
        )


def blank_slice(count: int, task: int) -> Slice:
    """Rows of a task without key, time or origin."""
    return Slice(
        pa.array(np.full(count, task, np.int32)),
        pa.nulls(count, pa.binary()),
        pa.nulls(count, pa.int64()),
        pa.array(np.zeros(count, bool)),
        pa.array(np.full(count, -1, np.int32)),
        pa.array(np.full(count, -1, np.int64)),
        (),
    )
