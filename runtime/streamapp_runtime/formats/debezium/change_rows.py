"""The rows of Debezium's changes, out of the fields of their records, whatever these are written in.

| change | what it is here |
| --- | --- |
| `c`, `u`, `r`: created, updated, of a snapshot | the row in `after` |
| `d`: deleted | a deletion of the key that the row in `before` has, where the record has none |
| a record without a value, which follows a deletion | a deletion of the record's key |
| `t`: truncated, and anything else | a bad record |

Flattened, as the transform ExtractNewRecordState leaves a change, a record is the row itself; `__deleted` is
"true" where that is the row before a deletion.
"""

from collections.abc import Mapping, Sequence
from hashlib import md5
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.problem import short
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.record_format import DecodedBatch, Deletions, UndecodableRecord
from streamapp_runtime.formats.required_columns import MISSING, required_columns
from streamapp_runtime.rows.byte_columns import true_places

BEFORE, AFTER, OP = "before", "after", "op"
DELETED: Final = "__deleted"
_WRITES: Final = pa.array(["c", "u", "r"])
_PLACEHOLDER: Final = "__debezium_unavailable_value"
_PLACEHOLDERS: Final = (
    _PLACEHOLDER,
    f'{{"{_PLACEHOLDER}":"{_PLACEHOLDER}"}}',  # of hstore as a text
    str(
        UUID(bytes=md5(_PLACEHOLDER.encode(), usedforsecurity=False).digest(), version=3)
    ),  # in arrays of uuid
)
_UNAVAILABLE: Final = (
    f'"{_PLACEHOLDER}": the database did not say the value, which has not changed; set the '
    "REPLICA IDENTITY of the table to FULL"
)
_NO_ROWS: Final[Mapping[str | None, str]] = {
    None: f'no change of a row: it has no "{OP}"; records that are rows themselves are read with flattened',
    "t": 'op "t": the table was truncated, and the keys of its rows are not said; see to these by hand',
    "m": 'op "m": a message of the database, and no change of a row',
}
"""Changes that are no rows, by their op."""


class ReadChanges(NamedTuple):
    """The changes of records: rows, with what they delete behind their columns, and the faults by place."""

    rows: pa.RecordBatch
    faults: Mapping[int, str]


class _Changes(NamedTuple):
    rows: list[pa.Array]
    deleted: pa.BooleanArray
    keys: pa.Array | None  # of deletions
    faults: dict[int, str]


class ChangeRows:
    """The columns of a table whose changes are read; `key` is the one by which rows are told apart."""

    def __init__(self, columns: Sequence[Column], key: str | None, *, flattened: bool) -> None:
        self.schema = arrow_schema(columns)
        self.key = next((column for column in columns if key and column.name.lower() == key.lower()), None)
        self._required = required_columns(columns)
        self._changes = self._of_rows if flattened else self._of_envelopes
        self.fields = self._flat_fields() if flattened else self._envelope_fields()
        """The fields that are read of a record."""

    def read(self, parts: Sequence[pa.Array]) -> ReadChanges:
        """The changes out of the fields of records; where one has a fault, its row means nothing."""
        rows, deleted, keys, faults = self._changes(parts)
        for name, column in zip(self.schema.names, rows, strict=True):
            if column.null_count and name in self._required:
                missing = pc.and_not(column.is_null(), deleted)
                faults = dict.fromkeys(true_places(missing), f"{name}: {MISSING}") | faults
            if (unsaid := _unavailable(column)) is not None:
                places = true_places(pc.and_not(unsaid, deleted))
                faults = dict.fromkeys(places, f"{name}: {_UNAVAILABLE}") | faults
        if deleted.true_count:
            rows = [pc.if_else(deleted, pa.scalar(None, column.type), column) for column in rows]
        fields = [*self.schema, pa.field(DELETED, pa.bool_())]
        if keys is not None:
            fields.append(pa.field(BEFORE, keys.type))
            columns = [*rows, deleted, pc.if_else(deleted, keys, pa.scalar(None, keys.type))]
        else:
            columns = [*rows, deleted]
        return ReadChanges(pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)), faults)

    def decoded(self, changes: pa.RecordBatch, bad: tuple[UndecodableRecord, ...]) -> DecodedBatch:
        """The row of each change; a deletion has null in every column, as a record without a value has."""
        count = len(self.schema)
        rows = pa.RecordBatch.from_arrays(changes.columns[:count], schema=self.schema)
        deleted = changes.column(count).fill_null(False)
        if not deleted.true_count:
            return DecodedBatch(rows, bad)
        keys = None if self.key is None else changes.column(count + 1)
        return DecodedBatch(rows, bad, Deletions(deleted, keys))

    def _flat_fields(self) -> list[pa.Field]:
        return [*self.schema, pa.field(DELETED, pa.string())]

    def _envelope_fields(self) -> list[pa.Field]:
        key = [] if self.key is None else [pa.field(BEFORE, pa.struct([self.schema.field(self.key.name)]))]
        return [*key, pa.field(AFTER, pa.struct(list(self.schema))), pa.field(OP, pa.string())]

    def _of_envelopes(self, parts: Sequence[pa.Array]) -> _Changes:
        *before, after, ops = parts
        deleted = pc.equal(ops, "d").fill_null(False)
        fine = pc.or_(deleted, pc.and_(pc.is_in(ops, _WRITES), after.is_valid()))
        faults = {place: _no_row(ops[place].as_py()) for place in true_places(pc.invert(fine))}
        return _Changes(after.flatten(), deleted, before[0].flatten()[0] if before else None, faults)

    def _of_rows(self, parts: Sequence[pa.Array]) -> _Changes:
        *rows, marks = parts
        keys = None if self.key is None else rows[self.schema.get_field_index(self.key.name)]
        return _Changes(rows, pc.equal(marks, "true").fill_null(False), keys, {})


def _no_row(op: str | None) -> str:
    """Why a change is no row and no deletion."""
    if op in _NO_ROWS:
        return _NO_ROWS[op]
    if op in _WRITES.to_pylist():
        return f'op "{op}" without a row in "{AFTER}"'
    return f'op "{short(op or "")}": none of c, u, r and d'


def _unavailable(column: pa.Array) -> pa.BooleanArray | None:
    """The rows in which a placeholder stands for a long value that the database did not say."""
    kind = column.type
    if pa.types.is_list(kind) and pa.types.is_integer(kind.value_type):
        return _of_numbers(column)
    if pa.types.is_map(kind):
        return _unavailable(pa.ListArray.from_arrays(column.offsets, column.keys))
    if pa.types.is_list(kind):
        inside = _unavailable(column.flatten())
        if inside is None or not inside.true_count:
            return None
        rows = np.zeros(len(column), bool)
        rows[pc.list_parent_indices(column).filter(inside).to_numpy()] = True
        return pa.array(rows)
    if not (pa.types.is_string(kind) or pa.types.is_binary(kind)):
        return None
    return pc.is_in(column, pa.array(_PLACEHOLDERS).cast(kind))


def _of_numbers(column: pa.ListArray) -> pa.BooleanArray:
    """The rows that are the placeholder's bytes, each a number."""
    codes = np.frombuffer(_PLACEHOLDER.encode(), np.uint8)
    as_long = (
        pc.equal(pc.list_value_length(column), len(codes)).fill_null(False).to_numpy(zero_copy_only=False)
    )
    items = column.filter(pa.array(as_long)).flatten().fill_null(0).to_numpy(zero_copy_only=False)
    rows = as_long.copy()
    rows[as_long] = (items.reshape(-1, len(codes)) == codes).all(axis=1)
    return pa.array(rows)
