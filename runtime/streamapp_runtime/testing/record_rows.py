"""Rows as tests write and read them, and the records that they are in a stream."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.problem import nearest
from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.format_names import READ_ONLY
from streamapp.spec.value_types.partitioner_names import DEFAULT_PARTITIONER, PartitionerName
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.imports.table_records import end_record
from streamapp_runtime.driver.start.writer_schemas import (
    WriterSchemaRefusedError,
    open_row_writer,
    with_keys_of_changes,
)
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.debezium.change_rows import AFTER, BEFORE, DELETED, OP
from streamapp_runtime.formats.debezium.written_changes import keys_of_changes
from streamapp_runtime.formats.decoded_rows import decoded_keys, key_reader
from streamapp_runtime.formats.format_options import options_of
from streamapp_runtime.formats.record_format import KeyedFormat, RecordFormat
from streamapp_runtime.formats.row_writer import KeyedRows, UnwritableRowError, WrittenRecords
from streamapp_runtime.key_partitioning import by_partition, partition_of
from streamapp_runtime.operators.compilation.piece import ARROW_KEY_TYPES
from streamapp_runtime.operators.stateless.row_executors import key_bytes
from streamapp_runtime.registered_schema import WritableSchemas
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import (
    HEADERS,
    RECORDS,
    RECORDS_WITH_HEADERS,
    Transaction,
    UnavailableError,
)
from streamapp_runtime.testing.clock_times import as_datetime, from_milliseconds, to_milliseconds
from streamapp_runtime.testing.kit_errors import UnfitRowError, WrongUseError

Row = dict[str, Any]
Header = tuple[str, bytes | None]
Headers = Mapping[str, str | bytes | None] | Sequence[tuple[str, str | bytes | None]]
"""Headers as a test writes them: by their names, or in an order, where a name may stand twice."""
WRITER: Final = "streamapp-test-kit"
_DIVISORS: Final = {None: None, "milliseconds": 1, "seconds": 1000}
"""What milliseconds are divided by in a column of event times, by its unit; None for timestamps."""


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """One record of a stream: `row` is None for a tombstone.

    A key of a registry is a JSON object of its columns; one that cannot be decoded is shown as it is.
    """

    key: str | None
    row: Row | None
    timestamp: int  # milliseconds
    partition: int
    offset: int
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True)
class RowCodec:
    """The columns of a stream, and how they stand in its records."""

    stream: Stream
    columns: tuple[Column, ...]
    format: RecordFormat
    schemas: WritableSchemas | None = None  # of the registry that it has

    @property
    def row_columns(self) -> tuple[Column, ...]:
        """The columns of rows that are written: those of registered keys behind those of the values."""
        return (*self.columns, *options_of(self.stream).key_columns)

    def records(
        self, rows: Sequence[Row | bytes], keys: Sequence[str | None] | None, at: int
    ) -> pa.RecordBatch:
        """Rows as records; WrongUseError names what does not fit. Bytes are a record's value as they are."""
        values = [row if isinstance(row, bytes) else None for row in rows]
        typed = [row for row in rows if not isinstance(row, bytes)]
        encoded = iter(self._written(typed, with_keys=keys is None) if typed else ())
        pairs = [next(encoded) if value is None else (None, value) for value in values]
        keys_as_bytes, filled = [own for own, _ in pairs], [value for _, value in pairs]
        key = self._key_column()
        if keys is not None:
            keys_as_bytes = [None if text is None else text.encode() for text in keys]
        elif key is not None and isinstance(self.format, KeyedFormat):
            of_changes = self.format.decode(pa.array(filled, pa.binary())).keys(key)
            keys_as_bytes = self._written_keys(of_changes).to_pylist()
        arrays = [pa.array(keys_as_bytes, pa.binary()), pa.array(filled, pa.binary())]
        return pa.RecordBatch.from_arrays([*arrays, pa.array([at] * len(rows), pa.int64())], schema=RECORDS)

    def tombstones(self, keys: Sequence[str | int], at: int) -> pa.RecordBatch:
        """A record without a value for each key, which is behind a frame where rows have its value."""
        own = self._written_keys(pa.array([str(key).encode() for key in keys], pa.binary()))
        arrays = [own, pa.nulls(len(keys), pa.binary()), pa.array([at] * len(keys), pa.int64())]
        return pa.RecordBatch.from_arrays(arrays, schema=RECORDS)

    def rows(self, records: pa.RecordBatch) -> list[Row | None]:
        """The rows that records hold; None for a tombstone."""
        values = records.column("value")
        decoded = self.format.decode(values)
        deleted = decoded.tombstones(values).to_pylist()
        rows = zip(decoded.columns.to_pylist(), self._of_keys(records), deleted, strict=True)
        return [None if gone else row | in_key for row, in_key, gone in rows]

    def columns_of(self, records: pa.RecordBatch) -> pa.RecordBatch:
        """The columns of the records that are no tombstones."""
        values = records.column("value")
        decoded = self.format.decode(values)
        return decoded.columns.filter(pc.invert(decoded.tombstones(values)))

    def timed(self, row: Row | bytes, at: int) -> Row | bytes:
        """A row with this event time, in milliseconds, where its stream has one and the row does not."""
        time = self.stream.event_time
        if not isinstance(row, Mapping) or time is None or self._is_change(row):
            return row
        names = [column.name for column in self.columns if column.name.lower() == time.column.lower()]
        if not names or names[0] in row:  # without such a column it is the record's own time
            return row
        (name,) = names
        divisor = _DIVISORS[time.unit]
        return {**row, name: from_milliseconds(at) if divisor is None else at // divisor}

    def event_times(self, records: pa.RecordBatch) -> Iterator[int]:
        """The event times of records in milliseconds, of those that have any."""
        time = self.stream.event_time
        for row in self.rows(records) if time is not None else ():
            value = None if row is None or time is None else row.get(time.column)
            if value is not None and time is not None:
                divisor = _DIVISORS[time.unit]
                yield to_milliseconds(value) if divisor is None else int(value) * divisor

    def shown_keys(self, records: pa.RecordBatch) -> pa.BinaryArray:
        """The keys of records; those of a registry as objects of their columns."""
        stream = with_keys_of_changes(self.stream, self.schemas) if self.schemas else self.stream
        reader = key_reader(stream, self.columns, self.schemas)
        return records.column("key") if reader is None else decoded_keys(reader, records).shown

    def _of_keys(self, records: pa.RecordBatch) -> list[Row]:
        """The columns of rows that lie in the keys of records."""
        reader = key_reader(self.stream, (), self.schemas) if options_of(self.stream).key_columns else None
        if reader is None:
            return [{}] * len(records)
        rows: list[Row] = decoded_keys(reader, records).decoded.columns.to_pylist()
        return rows

    def _written(self, rows: Sequence[Row], *, with_keys: bool) -> Iterator[tuple[bytes | None, bytes]]:
        """The key and the value of each row; with a registry by the schemas that it names."""
        if self._has_registered_changes:
            _, values = self._registered(KeyedRows.unkeyed(self._changes(rows)), with_keys=False)
            return zip([None] * len(rows), values.to_pylist(), strict=True)
        batch = self._batch(rows)
        if self.schemas is None:
            return zip(self._keys(batch), self.format.encode(batch).to_pylist(), strict=True)
        keys, values = self._registered(KeyedRows.unkeyed(batch), with_keys=with_keys)
        plain = None if self.stream.has_registered_keys else self._keys(batch)
        return zip(plain or keys.to_pylist(), values.to_pylist(), strict=True)

    def _written_keys(self, keys: pa.BinaryArray) -> pa.BinaryArray:
        """Keys that rows have as those of records: by the schema of keys, where they are its values."""
        if self.schemas is None or not with_keys_of_changes(self.stream, self.schemas).key_is_decoded:
            return keys
        rows, every = [Row()] * len(keys), pa.repeat(True, len(keys))
        columns = self._changes(rows) if self.stream.format in READ_ONLY else self._batch(rows)
        return self._registered(KeyedRows(columns, keys, every, every)).keys

    def _changes(self, rows: Sequence[Row]) -> pa.RecordBatch:
        """Rows as a snapshot has them, and changes as they are; their key column stands behind them."""
        if self.stream.flattened:
            marks = [row.get(DELETED) if isinstance(row, Mapping) else None for row in rows]
            plain = [_without(row, DELETED) for row in rows]
            changes = self._batch(plain).append_column(DELETED, pa.array(marks, pa.string()))
        else:
            each: list[Row] = [row if self._is_change(row) else {AFTER: row, OP: "r"} for row in rows]
            parts = [self._part([change.get(name) for change in each]) for name in (BEFORE, AFTER)]
            ops = pa.array([change[OP] for change in each], pa.string())
            changes = pa.RecordBatch.from_arrays([*parts, ops], names=[BEFORE, AFTER, OP])
        key = keys_of_changes(changes, self.columns, self.stream.key_in_values)
        return changes if key is None else changes.append_column("key", key)

    def _part(self, rows: Sequence[Row | None]) -> pa.StructArray:
        batch = self._batch([{} if row is None else row for row in rows])
        absent = pa.array([row is None for row in rows], pa.bool_())
        return pa.StructArray.from_arrays(batch.columns, fields=list(batch.schema), mask=absent)

    def _is_change(self, row: Row | bytes) -> bool:
        """True for a change as a connector writes it, and not the row itself."""
        if not self._has_registered_changes or self.stream.flattened or not isinstance(row, Mapping):
            return False
        return OP in row and OP not in {column.name for column in self.columns}

    @property
    def _has_registered_changes(self) -> bool:
        return self.stream.registry and self.stream.format in READ_ONLY

    def _registered(self, rows: KeyedRows, *, with_keys: bool = True) -> WrittenRecords:
        """The records by the schemas of the registry; WrongUseError where it has none, or is away."""
        if self.schemas is None:
            raise TypeError("no registry was given")
        try:
            return open_row_writer(self.stream, self.columns, self.schemas, with_keys=with_keys).write(rows)
        except UnwritableRowError as unfit:
            raise UnfitRowError(unfit.number, f'"{self.stream.name}": {unfit}') from None
        except WriterSchemaRefusedError as unwritable:
            raise WrongUseError(str(unwritable)) from None
        except UnavailableError as silent:
            raise WrongUseError(f'rows cannot be written to "{self.stream.name}": {silent}') from None

    def _batch(self, rows: Sequence[Row]) -> pa.RecordBatch:
        names = [column.name for column in self.row_columns]
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise UnfitRowError(number, f'"{self.stream.name}" is given {row!r}; a row is a dict')
            for name in row:
                if name not in names:
                    unknown = f'"{self.stream.name}" has no column "{name}"'
                    raise UnfitRowError(number, f"{unknown}{nearest(str(name), names)}")
        schema = arrow_schema(self.row_columns)
        return pa.RecordBatch.from_arrays([self._array(field, rows) for field in schema], schema=schema)

    def _array(self, field: pa.Field, rows: Sequence[Row]) -> pa.Array:
        values = []
        for number, row in enumerate(rows):
            try:
                values.append(pa.scalar(_value(row.get(field.name), field.type), field.type))
            except (
                pa.ArrowInvalid,
                pa.ArrowTypeError,
                TypeError,
                ValueError,
                InvalidOperation,
                OverflowError,
            ):
                kind = next(column.type for column in self.row_columns if column.name == field.name)
                raise UnfitRowError(
                    number, f'{field.name} of "{self.stream.name}" is {kind}, and {row[field.name]!r} is none'
                ) from None
        return pa.array([value.as_py() for value in values], field.type)

    def _key_column(self) -> str | None:
        """The name of the column that is the key, as the column list has it."""
        key = self.stream.key_in_values
        return next((each.name for each in self.columns if key and each.name.lower() == key.lower()), None)

    def _keys(self, batch: pa.RecordBatch) -> list[bytes | None]:
        key = self._key_column()
        if key is None:
            return [None] * batch.num_rows
        column = batch.column(key)
        if next(each.type for each in self.columns if each.name == key) in ARROW_KEY_TYPES:
            return list(key_bytes(column).to_pylist())
        texts = ["null" if value is None else json.dumps(value, default=str) for value in column.to_pylist()]
        return [None if text == "null" else text.strip('"').encode() for text in texts]


def _without(row: Any, name: str) -> Any:
    return {key: value for key, value in row.items() if key != name} if isinstance(row, Mapping) else row


def _value(value: Any, kind: pa.DataType) -> Any:
    """A value as Arrow takes it, where a test wrote it as text."""
    if isinstance(value, str | datetime) and pa.types.is_timestamp(kind):
        moment = as_datetime(value)
        return moment if kind.tz else moment.replace(tzinfo=None)
    if isinstance(value, str) and pa.types.is_date(kind):
        return date.fromisoformat(value)
    if isinstance(value, str | int) and pa.types.is_decimal(kind):
        return Decimal(value)
    if isinstance(value, bool) and not pa.types.is_boolean(kind):
        raise TypeError
    return value


def with_headers(records: pa.RecordBatch, headers: Headers) -> pa.RecordBatch:
    """The records, each with these headers."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    each = [
        {"name": name, "value": value.encode() if isinstance(value, str) else value} for name, value in pairs
    ]
    listed = pa.array([each] * len(records), HEADERS.type)
    return pa.RecordBatch.from_arrays([*records.columns, listed], schema=RECORDS_WITH_HEADERS)


def _begun(systems: Systems, stream: str) -> Transaction:
    """A transaction by a writer of the stream's own: two of one name would fence each other in a cluster."""
    return systems.of_stream(stream).begin(f"{WRITER}.{systems.connections.location(stream).topic}", 0)


def append_records(
    systems: Systems,
    stream: str,
    records: pa.RecordBatch,
    partitioner: PartitionerName = DEFAULT_PARTITIONER,
) -> None:
    """Write records where their keys belong."""
    count = systems.partitions(stream) or 1
    partitions = [Partition(stream, index) for index in range(count)]
    written = sum(span.end for span in systems.spans(partitions).values())
    places = partition_of(records.column("key"), count, written, partitioner=partitioner)
    transaction = _begun(systems, stream)
    for index, part in by_partition(records, places):
        transaction.append(systems.locate(partitions[index]), part)
    transaction.commit()


def end_version(systems: Systems, stream: str) -> None:
    """End a version of a table that is refreshed."""
    transaction = _begun(systems, stream)
    for index in range(systems.partitions(stream) or 1):
        transaction.append(systems.locate(Partition(stream, index)), end_record(None))
    transaction.commit()


def stored_batches(systems: Systems, stream: str) -> Iterator[tuple[int, pa.RecordBatch]]:
    """All records of a stream, partition by partition."""
    for index in range(systems.partitions(stream) or 0):
        partition = Partition(stream, index)
        span = systems.spans([partition])[partition]
        for batch in systems.read(partition, span.oldest, span.end, headers=True):
            yield index, batch


def stream_records(systems: Systems, codec: RowCodec) -> Iterator[StreamRecord]:
    """The records of a stream with their rows, partition by partition."""
    for index, batch in stored_batches(systems, codec.stream.name):
        shown = zip(batch.to_pylist(), codec.rows(batch), codec.shown_keys(batch).to_pylist(), strict=True)
        for record, row, octets in shown:
            key = None if octets is None else octets.decode(errors="backslashreplace")
            headers = header_pairs(record["headers"])
            yield StreamRecord(key, row, record["timestamp"], index, record["offset"], headers)


def header_pairs(headers: Sequence[Mapping[str, Any]]) -> tuple[Header, ...]:
    """Headers as tests see them."""
    return tuple((header["name"], header["value"]) for header in headers)
