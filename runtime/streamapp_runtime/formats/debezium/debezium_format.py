"""The Debezium format: the changes of a database's table in JSON, as rows and deletions of rows.

| change | what it is here |
| --- | --- |
| `c`, `u`, `r`: created, updated, of a snapshot | the row in `after` |
| `d`: deleted | a deletion of the key that the row in `before` has, where the record has none |
| a record without a value, which follows a deletion | a deletion of the record's key |
| `t`: truncated, and anything else | a bad record |

A record may have its schema beside it (`schema` and `payload`). Flattened, as the transform
ExtractNewRecordState leaves a change, it is the row itself; `__deleted` is "true" where that is the row
before a deletion.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.problem import short
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.debezium.change_keys import PAYLOAD, ChangeKeys
from streamapp_runtime.formats.json.json_reader import JsonReader
from streamapp_runtime.formats.json.json_spelling import JsonSpelling
from streamapp_runtime.formats.record_format import DecodedBatch, Deletions, ReadKeys, UndecodableError
from streamapp_runtime.formats.required_columns import MISSING, required_columns
from streamapp_runtime.rows.byte_columns import true_places

_BEFORE, _AFTER, _OP, _DELETED = "before", "after", "op", "__deleted"
_WRITES: Final = pa.array(["c", "u", "r"])
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001
_PLACEHOLDER: Final = "__debezium_unavailable_value"
_NO_ROWS: Final[Mapping[str | None, str]] = {
    None: f'no change of a row: it has no "{_OP}"; records that are rows themselves are read with flattened',
    "t": 'op "t": the table was truncated, and the keys of its rows are not said; see to these by hand',
    "m": 'op "m": a message of the database, and no change of a row',
}
"""Changes that are no rows, by their op."""


class _Changes(NamedTuple):
    """The changes of a batch: rows, which of them are deletions, and the keys of those."""

    rows: list[pa.Array]
    deleted: pa.BooleanArray
    keys: pa.Array | None
    faults: dict[int, str]


class DebeziumFormat:
    """Records that are changes of rows; `key` is the column by which rows are told apart."""

    def __init__(
        self, columns: Sequence[Column], key: str | None, spelling: JsonSpelling, *, flattened: bool
    ) -> None:
        self.schema = arrow_schema(columns)
        self._required = required_columns(columns)
        self._key = next((c.name for c in columns if key and c.name.lower() == key.lower()), None)
        self._keys = None if self._key is None else ChangeKeys(self.schema.field(self._key), spelling)
        self._spelling, self._flattened = spelling, flattened
        self._changes = self._of_rows if flattened else self._of_envelopes
        fields = self._fields()
        wrapped = [] if PAYLOAD in self.schema.names and flattened else [pa.field(PAYLOAD, pa.struct(fields))]
        self._reader = JsonReader(pa.schema([*fields, *wrapped]), spelling=spelling)

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The row of each change; a deletion has null in every column, as a record without a value has."""
        decoded = decode_around_bad_records(values, self._read)
        columns, count = decoded.columns, len(self.schema)
        rows = pa.RecordBatch.from_arrays(columns.columns[:count], schema=self.schema)
        deleted = columns.column(count).fill_null(False)
        if not deleted.true_count:
            return DecodedBatch(rows, decoded.bad)
        keys = None if self._key is None else columns.column(count + 1)
        return DecodedBatch(rows, decoded.bad, Deletions(deleted, keys))

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
        records = rows if self._flattened else [{_BEFORE: None, _AFTER: row, _OP: "r"} for row in rows]
        return pa.array([json.dumps(record).encode() for record in records], pa.binary())

    def _fields(self) -> list[pa.Field]:
        if self._flattened:
            return [*self.schema, pa.field(_DELETED, pa.string())]
        key = [] if self._key is None else [self.schema.field(self._key)]
        parts = {_BEFORE: pa.struct(key), _AFTER: pa.struct(list(self.schema)), _OP: pa.string()}
        return [pa.field(name, kind) for name, kind in parts.items()]

    def _read(self, values: pa.BinaryArray) -> pa.RecordBatch:
        rows, deleted, keys, faults = self._changes(_unwrapped(self._reader.read(values)))
        for name, column in zip(self.schema.names, rows, strict=True):
            if column.null_count and name in self._required:
                missing = pc.and_not(column.is_null(), deleted)
                faults = dict.fromkeys(true_places(missing), f"{name}: {MISSING}") | faults
            if (unsaid := _unavailable(column)) is not None:
                places = true_places(pc.and_not(unsaid, deleted))
                faults = dict.fromkeys(places, f"{name}: {_UNAVAILABLE}") | faults
        if faults:
            raise UndecodableError(next(iter(faults.values())), faults)
        if deleted.true_count:
            rows = [pc.if_else(deleted, pa.scalar(None, column.type), column) for column in rows]
        fields = [*self.schema, pa.field(_DELETED, pa.bool_())]
        if keys is not None:
            keys = pc.if_else(deleted, keys, pa.scalar(None, keys.type))
            return pa.RecordBatch.from_arrays(
                [*rows, deleted, keys], schema=pa.schema([*fields, pa.field(_BEFORE, keys.type)])
            )
        return pa.RecordBatch.from_arrays([*rows, deleted], schema=pa.schema(fields))

    def _of_envelopes(self, parts: Sequence[pa.Array]) -> _Changes:
        before, after, ops = parts
        deleted = pc.equal(ops, "d").fill_null(False)
        fine = pc.or_(deleted, pc.and_(pc.is_in(ops, _WRITES), after.is_valid()))
        faults = {place: _no_row(ops[place].as_py()) for place in true_places(pc.invert(fine))}
        return _Changes(after.flatten(), deleted, before.flatten()[0] if self._key else None, faults)

    def _of_rows(self, parts: Sequence[pa.Array]) -> _Changes:
        *rows, marks = parts
        keys = None if self._key is None else rows[self.schema.get_field_index(self._key)]
        return _Changes(rows, pc.equal(marks, "true").fill_null(False), keys, {})


_UNAVAILABLE: Final = (
    f'"{_PLACEHOLDER}": the database did not say the value, which has not changed; set the '
    "REPLICA IDENTITY of the table to FULL"
)


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


def _no_row(op: str | None) -> str:
    """Why a change is no row and no deletion."""
    if op in _NO_ROWS:
        return _NO_ROWS[op]
    if op in _WRITES.to_pylist():
        return f'op "{op}" without a row in "{_AFTER}"'
    return f'op "{short(op or "")}": none of c, u, r and d'


def _unavailable(column: pa.Array) -> pa.BooleanArray | None:
    """The rows in which a placeholder stands for a long value that the database did not say."""
    if pa.types.is_list(column.type):
        inside = _unavailable(column.flatten())
        if inside is None:
            return None
        rows = np.zeros(len(column), bool)
        rows[pc.list_parent_indices(column).filter(inside).to_numpy()] = True
        return pa.array(rows)
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return None
    return pc.equal(column, pa.scalar(_PLACEHOLDER).cast(column.type)).fill_null(False)


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
    spell = _SPELLINGS.get(type(value))
    return value if spell is None else spell(value, spelling)


def _time(value: datetime, spelling: JsonSpelling) -> str | int:
    if value.tzinfo is not None:
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    form = spelling.local_timestamps
    return value.isoformat() if form == "text" else (value - _EPOCH) // timedelta(**{form: 1})


def _decimal(value: Decimal, spelling: JsonSpelling) -> str:
    if spelling.decimals != "base64":
        return str(value)
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits))) * (-1 if sign else 1)
    return b64encode(number.to_bytes(number.bit_length() // 8 + 1, signed=True)).decode()


_SPELLINGS: Final[Mapping[type, Callable[[Any, JsonSpelling], Any]]] = {
    datetime: _time,
    date: lambda value, _: (value - _EPOCH.date()).days,
    Decimal: _decimal,
    bytes: lambda value, _: b64encode(value).decode(),
}
"""The types whose values JSON does not have."""
