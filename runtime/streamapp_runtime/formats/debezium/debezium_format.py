"""The Debezium format in JSON; a record may have its schema beside it (`schema` and `payload`)."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.debezium.change_keys import PAYLOAD, ChangeKeys
from streamapp_runtime.formats.debezium.change_rows import AFTER, BEFORE, OP, ChangeRows
from streamapp_runtime.formats.json.json_reader import JsonReader
from streamapp_runtime.formats.json.json_spelling import JsonSpelling
from streamapp_runtime.formats.record_format import DecodedBatch, ReadKeys, UndecodableError

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001


class DebeziumFormat:
    """Records that are changes of rows; `key` is the column by which rows are told apart."""

    def __init__(
        self, columns: Sequence[Column], key: str | None, spelling: JsonSpelling, *, flattened: bool
    ) -> None:
        self._changes = ChangeRows(columns, key, flattened=flattened)
        self.schema, fields = self._changes.schema, self._changes.fields
        key_column = self._changes.key
        self._keys = None if key_column is None else ChangeKeys(self.schema.field(key_column.name), spelling)
        self._spelling, self._flattened = spelling, flattened
        wrapped = [] if PAYLOAD in self.schema.names and flattened else [pa.field(PAYLOAD, pa.struct(fields))]
        self._reader = JsonReader(pa.schema([*fields, *wrapped]), spelling=spelling)

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The row of each change; a deletion has null in every column, as a record without a value has."""
        decoded = decode_around_bad_records(values, self._read)
        return self._changes.decoded(decoded.columns, decoded.bad)

    def read_keys(self, keys: pa.BinaryArray) -> ReadKeys:
        """The keys of records, which are JSON, as rows have keys."""
        return ReadKeys(keys, {}) if self._keys is None else self._keys.read(keys)

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The rows as a snapshot has them, for tests and made-up rows: an app does not write changes."""
        kinds = {field.name: field.type for field in self.schema}
        rows = [
            {name: _spelt(value, kinds[name], self._spelling) for name, value in row.items()}
            for row in columns.to_pylist()
        ]
        records = rows if self._flattened else [{BEFORE: None, AFTER: row, OP: "r"} for row in rows]
        return pa.array([json.dumps(record).encode() for record in records], pa.binary())

    def _read(self, values: pa.BinaryArray) -> pa.RecordBatch:
        rows, faults = self._changes.read(_unwrapped(self._reader.read(values)))
        if faults:
            raise UndecodableError(next(iter(faults.values())), faults)
        return rows


def _unwrapped(record: pa.RecordBatch) -> list[pa.Array]:
    """The fields of each record, out of the payload of those that have their schema beside it."""
    if record.schema.names[-1] != PAYLOAD or not pa.types.is_struct(record.schema.types[-1]):
        return list(record.columns)
    plain: list[pa.Array] = record.columns[:-1]
    payload = record.column(PAYLOAD)
    wrapped = payload.is_valid()
    if not wrapped.true_count:
        return plain
    inside: list[pa.Array] = payload.flatten()
    if wrapped.true_count == len(record):
        return inside
    return [pc.if_else(wrapped, *pair) for pair in zip(inside, plain, strict=True)]


def _spelt(value: Any, kind: pa.DataType, spelling: JsonSpelling) -> Any:
    """A value as Debezium writes it."""
    if value is None:
        return None
    if pa.types.is_list(kind):
        return [_spelt(each, kind.value_type, spelling) for each in value]
    if pa.types.is_map(kind):
        return {str(name): _spelt(each, kind.item_type, spelling) for name, each in value}
    if pa.types.is_struct(kind):
        return {field.name: _spelt(value[field.name], field.type, spelling) for field in kind}
    return spelled(value, spelling)


def spelled(value: Any, spelling: JsonSpelling) -> Any:
    """A value that has no parts as Debezium writes it."""
    spell = _SPELLINGS.get(type(value))
    return value if spell is None else spell(value, spelling)


def _time(value: datetime, spelling: JsonSpelling) -> str | int:
    form = spelling.local_timestamps
    if value.tzinfo is not None:
        form, value = spelling.timestamps, value.astimezone(UTC)
        if form == "text":
            return value.isoformat().replace("+00:00", "Z")
        value = value.replace(tzinfo=None)
    if form in {"text", "isostring"}:
        return value.isoformat() + ("Z" if form == "isostring" else "")
    if form == "nanoseconds":
        return (value - _EPOCH) // timedelta(microseconds=1) * 1000
    return (value - _EPOCH) // timedelta(**{form: 1})


def _date(value: date, spelling: JsonSpelling) -> str | int:
    if spelling.dates == "days":
        return (value - _EPOCH.date()).days
    return f"{value.isoformat()}{'Z' if spelling.dates == 'isostring' else ''}"


def _decimal(value: Decimal, spelling: JsonSpelling) -> str:
    if spelling.decimals != "base64":
        return str(value)
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits))) * (-1 if sign else 1)
    return b64encode(number.to_bytes(number.bit_length() // 8 + 1, signed=True)).decode()


_SPELLINGS: Final[Mapping[type, Callable[[Any, JsonSpelling], Any]]] = {
    datetime: _time,
    date: _date,
    Decimal: _decimal,
    bytes: lambda value, _: b64encode(value).decode(),
}
"""The types whose values JSON does not have."""
