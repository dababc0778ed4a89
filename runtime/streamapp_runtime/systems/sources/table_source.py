"""The interface of every source of rows that is read once, and the rule which of its columns are readable.

A source names the newest version of a table and gives its rows in batches of Arrow. It keeps no position: who
fails begins again with another version.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.systems.sinks.sink import SinkTable
from streamapp_runtime.systems.stream_system import RecordRefusedError

BATCH_ROWS: Final = 50_000
"""So many rows are asked for at a time."""
LINE: Final = "line"
"""The first column of a source of lines; those behind it are texts that the lines lack."""


class RowForm(Enum):
    """The form in which a source gives its rows."""

    COLUMNS = "columns"  # those that are declared, in their types
    TEXTS = "texts"  # the same, each value as text
    LINES = "lines"  # JSON objects, byte for byte


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """One version of a table: its name, why it cannot be read, and its rows."""

    name: str  # empty where the system has no versions
    misfits: tuple[str, ...]  # each with a fix
    batches: Callable[[], Iterator[pa.RecordBatch]]  # the failures are those of systems
    form: RowForm = RowForm.COLUMNS


class TableSource(Protocol):
    """The tables of a system. One object per process; used by one thread at a time."""

    def newest(self, table: SinkTable) -> TableSnapshot:
        """The newest version of a table; UnknownStreamError where there is no table."""

    def close(self) -> None:
        """Let go of everything."""


def misfit_columns(table: SinkTable, there: pa.Schema, *, tells_nulls: bool) -> Iterator[str]:
    """Why rows of these columns are none of the declared ones, each with a fix.

    `tells_nulls` is whether what may be null there has nulls as a rule: files say so of each column.
    """
    for column in table.columns:
        wanted, index = table.schema.field(column.name), there.get_field_index(column.name)
        if index < 0:
            yield missing_column(column.name, there.names)
        elif not holds(wanted.type, there.field(index).type):
            kind = there.field(index).type
            yield f'"{column.name}" is {kind} in the table, which {column.type} does not hold; change columns'
        elif tells_nulls and there.field(index).nullable and not column.nullable:
            yield null_column(column.name)


def missing_column(name: str, present: list[str]) -> str:
    """The reason why a table without one of the columns is refused."""
    spelled = next((other for other in present if other.lower() == name.lower()), None)
    if spelled is not None:
        return f'"{name}" is "{spelled}" in the table; spell it so in columns'
    return f'"{name}" is missing in the table, which has {", ".join(present)}; take it out of columns'


def null_column(name: str) -> str:
    """The reason why a column with nulls is refused where it may not have any."""
    return f'"{name}" may be null in the table; leave NOT NULL out of columns'


def fitted(batch: pa.RecordBatch, table: SinkTable, place: str) -> pa.RecordBatch:
    """The declared columns of a batch in their types; RecordRefusedError where a value does not fit."""
    columns = []
    for wanted in table.schema:
        column = batch.column(wanted.name)
        try:
            columns.append(column if column.type == wanted.type else pc.cast(column, wanted.type))
        except pa.ArrowInvalid as error:
            raise RecordRefusedError(f'{place}: "{wanted.name}": {error}') from None
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def holds(wanted: pa.DataType, there: pa.DataType) -> bool:
    """True if a column of the first type holds each value of the second.

    Nanoseconds are held where they are whole microseconds, which each value is asked for.
    """
    types = pa.types
    if types.is_dictionary(there):
        there = there.value_type
    if wanted == there or types.is_null(there):
        return True
    if types.is_nested(wanted):
        return _nested_holds(wanted, there)
    if types.is_decimal(wanted):
        before, behind = _digits(there)
        return bool(before <= wanted.precision - wanted.scale and behind <= wanted.scale)
    if any(is_number(wanted) and is_number(there) for is_number in (types.is_integer, types.is_floating)):
        return bool(there.bit_width + types.is_unsigned_integer(there) <= wanted.bit_width)
    if types.is_timestamp(there) and types.is_timestamp(wanted):
        return (there.tz is None) == (wanted.tz is None)
    return any(is_alike(wanted) and is_alike(there) for is_alike in (_is_text, _is_bytes, types.is_date))


def _nested_holds(wanted: pa.DataType, there: pa.DataType) -> bool:
    types = pa.types
    if types.is_struct(wanted) and types.is_struct(there):
        return _parts_hold(list(wanted), list(there))
    if types.is_map(wanted) and types.is_map(there):
        return _parts_hold(_entry(wanted), _entry(there))
    return bool(types.is_list(wanted)) and _is_list(there) and holds(wanted.value_type, there.value_type)


def _parts_hold(wanted: list[pa.Field], there: list[pa.Field]) -> bool:
    names = [[one.name for one in fields] for fields in (wanted, there)]
    return names[0] == names[1] and all(
        holds(one.type, other.type) for one, other in zip(wanted, there, strict=True)
    )


def _entry(kind: pa.MapType) -> list[pa.Field]:
    return [pa.field("key", kind.key_type), pa.field("value", kind.item_type)]


def _digits(kind: pa.DataType) -> tuple[float, float]:
    """The digits before and behind the point that exact numbers have at most; of others there is no end."""
    if pa.types.is_decimal(kind):
        return kind.precision - kind.scale, kind.scale
    return ({8: 3, 16: 5, 32: 10, 64: 20}[kind.bit_width], 0) if pa.types.is_integer(kind) else (inf, inf)


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )
