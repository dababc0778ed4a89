"""The rows of a table as records of the stream that they are imported into."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import declared_name, parse_columns
from streamapp_runtime.formats.format_options import options_of
from streamapp_runtime.formats.json.text_objects import literal_or_quoted, quoted, text_objects, with_fields
from streamapp_runtime.formats.record_format import RecordFormat
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.rows.byte_columns import key_bytes
from streamapp_runtime.systems.sources.table_source import RowForm, TableSnapshot
from streamapp_runtime.systems.stream_system import RECORDS

CHUNK_ROWS: Final = 50_000
"""So many rows are one transaction."""
CHUNK_BYTES: Final = 16 << 20
"""Or fewer, that have so many bytes."""


@dataclass(slots=True)
class HistoryPositions:
    """The next record of each partition of a topic, by the rows of a table that has its records so far."""

    partition: str  # the column that says where a row's record was
    offset: str
    next_offsets: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, app: StreamApp, history: str) -> "HistoryPositions | None":
        """Of the stream that comes after a table; None where rows do not say where their records were."""
        follower = next((one for one in app.spec.streams if one.after == history), None)
        metadata = follower.metadata if follower is not None else None
        if metadata is None or metadata.partition is None or metadata.offset is None:
            return None
        columns = {
            one.name.lower(): one.name for one in parse_columns(app.spec.stream(history).columns or "")
        }
        partition, offset = (columns.get(name.lower()) for name in (metadata.partition, metadata.offset))
        return cls(partition, offset) if partition and offset else None

    def note(self, rows: pa.RecordBatch) -> None:
        """Take rows; those that do not say it are of no partition."""
        table = pa.Table.from_batches([rows.select([self.partition, self.offset])]).drop_null()
        last = table.group_by(self.partition).aggregate([(self.offset, "max")])
        for index, offset in zip(*(column.to_pylist() for column in last.columns), strict=True):
            self.next_offsets[index] = max(self.next_offsets.get(index, 0), offset + 1)


def table_records(
    stream: Stream, version: TableSnapshot, positions: HistoryPositions | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a table as records of its stream: JSON, and the key as everywhere."""
    columns = parse_columns(stream.columns or "")
    form = open_format(stream.format, columns, options_of(stream))
    key = declared_name(columns, stream.key) if stream.key else None
    for batch in version.batches():
        values = _values(form, batch, version.form)
        if version.form is RowForm.COLUMNS:
            rows, keys = batch, key_bytes(batch.column(key)) if key else None
        elif key or positions:
            decoded = form.decode(values)  # of what is no row nothing is known: whoever reads it says so
            rows, keys = decoded.columns, decoded.keys(key) if key else None
        else:
            rows, keys = None, None
        if positions is not None and rows is not None:
            positions.note(rows)
        if keys is None:
            keys = pa.nulls(len(values), pa.binary())
        times = pa.nulls(len(values), pa.int64())
        yield pa.RecordBatch.from_arrays([keys, values, times], schema=RECORDS)


def end_record(sign: bytes | None) -> pa.RecordBatch:
    """The record that ends a version in a partition: it has no key, and this value."""
    columns = [pa.nulls(1, pa.binary()), pa.array([sign], pa.binary()), pa.nulls(1, pa.int64())]
    return pa.RecordBatch.from_arrays(columns, schema=RECORDS)


def _values(form: RecordFormat, batch: pa.RecordBatch, row_form: RowForm) -> pa.BinaryArray:
    match row_form:
        case RowForm.COLUMNS:
            return form.encode(batch)
        case RowForm.LINES:
            names = batch.schema.names[1:]
            return with_fields(batch.column(0), _texts(form, batch.select(names), names))
        case RowForm.TEXTS:
            return text_objects(_texts(form, batch, form.schema.names)).cast(pa.binary())


def _texts(form: RecordFormat, batch: pa.RecordBatch, names: list[str]) -> dict[str, pa.StringArray]:
    """The columns of these names as texts of JSON."""
    return {
        name: literal_or_quoted(batch.column(name))
        if _is_literal(form.schema.field(name).type)
        else quoted(batch.column(name))
        for name in names
    }


def _is_literal(kind: pa.DataType) -> bool:
    """True if values of the type are literals of JSON; those of others are strings there."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same records, as many at a time as a transaction takes."""
    gathered: list[pa.RecordBatch] = []
    for batch in batches:
        start = 0
        while start < len(batch):
            part = batch.slice(start, CHUNK_ROWS - sum(map(len, gathered)))
            gathered.append(part)
            start += len(part)
            size = sum(pc.sum(pc.binary_length(one.column("value"))).as_py() or 0 for one in gathered)
            if size >= CHUNK_BYTES or sum(map(len, gathered)) >= CHUNK_ROWS:
                yield pa.concat_batches(gathered)
                gathered = []
    if gathered:
        yield pa.concat_batches(gathered)
