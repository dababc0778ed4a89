"""The rules on the columns and keys of rows. What is refused here is refused wherever an app is looked at."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.columns.known_types import UNKNOWN
from streamapp.columns.row_key import REPARTITION_HINT, RowKey
from streamapp.columns.spark_functions import GENERATORS, RUNNING_TOTALS
from streamapp.spec.problem import nearest, short
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operators import Join, JoinTable
from streamapp.spec.resource.streams import Stream
from streamapp.spec.resource.tables import Table
from streamapp.spec.value_types.column_list import Column

ONE_VALUE: Mapping[str, Column] = {"bytes": Column("value", "BINARY"), "string": Column("value", "STRING")}
"""Formats whose records are one value each."""
WINDOW_COLUMNS = (Column("window_start", "TIMESTAMP"), Column("window_end", "TIMESTAMP"))
"""What an aggregate with a window puts out between its key and its totals."""


class KeyedColumns(Protocol):
    """Columns of rows, and what is known of their key."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """In their order."""

    @property
    def key(self) -> RowKey:
        """The key of the rows, and where equal keys lie."""


def stream_columns(stream: Stream, declared: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of a stream, of which these are declared; empty where nothing says them."""
    value_column = ONE_VALUE.get(stream.format)
    if value_column is None:
        return declared
    if declared and [column.type for column in declared] != [value_column.type]:
        raise CompileRefusedError(
            f'format "{stream.format}" has one column of type {value_column.type}', "columns"
        )
    return declared or (value_column,)


def input_columns(
    stream: Stream, declared: tuple[Column, ...], of_keys: tuple[Column, ...] = ()
) -> tuple[Column, ...]:
    """The columns of the rows of a stream that is read: those of values, of keys, then of the records."""
    columns = stream_columns(stream, declared)
    require_columns(stream, columns)
    of_records = [("keyColumns", column) for column in of_keys]
    if stream.metadata:
        of_records += [(str(field), column) for field, column in stream.metadata.columns]
    _require_free_names(columns, of_records)
    return (*columns, *(column for _, column in of_records))


def output_columns(
    stream: Stream, declared: tuple[Column, ...], of_keys: tuple[Column, ...], rows: KeyedColumns
) -> tuple[Column, ...]:
    """The columns in the values of rows that are sent to a stream: where it says none, all but its keys'."""
    columns = stream_columns(stream, declared)
    _require_free_names(columns, [("keyColumns", column) for column in of_keys])
    of_key = {column.name.lower() for column in of_keys}
    others = tuple(column for column in rows.columns if column.name.lower() not in of_key)
    if stream.columns is None and stream.format in ONE_VALUE and len(others) == 1:
        return (Column(others[0].name, columns[0].type),)
    return columns or others


def _require_free_names(columns: tuple[Column, ...], of_records: Iterable[tuple[str, Column]]) -> None:
    """Refuse columns of records that are called as others are."""
    taken = {column.name.lower(): "the stream's columns" for column in columns}
    for field, column in of_records:
        if owner := taken.get(column.name.lower()):
            raise CompileRefusedError(
                f'the name "{short(column.name)}" is taken by {owner}; give the column another',
                f"metadata.{field}",
            )
        taken[column.name.lower()] = f"metadata.{field}"


def require_columns(stream: Stream, columns: tuple[Column, ...]) -> None:
    """Refuse to read a stream of which nothing says the columns."""
    if not columns:
        message = f'missing; the app reads "{stream.name}", and format "{stream.format}" needs them'
        hint = (
            "; `streamapp registry columns` prints those of the registered schema" if stream.registry else ""
        )
        raise CompileRefusedError(message + hint, "columns")


def require_declared_columns(table: Table) -> None:
    """Refuse a table that has its columns from its first side input, where that is a Python function."""
    if table.side_inputs[0].python is not None:
        raise CompileRefusedError(
            "missing; nothing says which columns the Python function returns", "columns"
        )


def require_boolean(type_text: str) -> None:
    """Refuse what is surely no condition."""
    if type_text not in {"BOOLEAN", UNKNOWN}:
        raise CompileRefusedError(f"has to be BOOLEAN; found {type_text}")


def require_unique(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns, or a refusal where two have one name."""
    names: set[str] = set()
    for column in columns:
        if column.name.lower() in names:
            raise CompileRefusedError(
                f'two columns are called "{short(column.name)}"; give one another name with AS'
            )
        names.add(column.name.lower())
    return columns


def require_one_generator(count: int) -> None:
    """Refuse a flatMap that has none, or several."""
    if count != 1:
        what = "no generator; use map, or one of" if not count else f"{count} generators; allowed is one of"
        raise CompileRefusedError(f"has {what} {', '.join(GENERATORS)} as a separate entry")


def require_running_total(function: str, *, distinct: bool) -> None:
    """Refuse an aggregate function that an aggregate operator does not keep."""
    if function not in RUNNING_TOTALS:
        allowed = ", ".join(RUNNING_TOTALS[:-1])
        raise CompileRefusedError(
            f"{short(function)} cannot be kept as a running total; allowed are {allowed}"
        )
    if distinct:
        raise CompileRefusedError(
            f"{function}(DISTINCT ...) would have to keep every value; count after a partitionBy by it"
        )


def require_same_columns(first: tuple[Column, ...], other: tuple[Column, ...]) -> None:
    """Refuse to merge rows that surely differ; the order of columns does not count."""
    types = {column.name.lower(): column.type for column in first}
    other_types = {column.name.lower(): column.type for column in other}
    if types.keys() != other_types.keys() or any(
        UNKNOWN not in (kind, other_types[name]) and kind != other_types[name] for name, kind in types.items()
    ):
        raise CompileRefusedError(
            f"the sources have different columns: {_column_texts(first)} and {_column_texts(other)}", "from"
        )


def merged_key(keys: Sequence[RowKey]) -> RowKey:
    """The key of merged rows, as far as it is known."""
    return keys[0] if len(set(keys)) == 1 else RowKey(None, None, all(key.together for key in keys))


def require_fitting_names(
    columns: tuple[Column, ...], wanted: tuple[Column, ...], what: str, spare: Collection[str] = ()
) -> None:
    """Refuse rows that lack a column of what they are sent to, or have one beside it that is not spare."""
    names, wanted_names = ({c.name.lower() for c in some} for some in (columns, wanted))
    missing = [column.name for column in wanted if column.name.lower() not in names]
    allowed_names = wanted_names | {name.lower() for name in spare}
    extra = [column.name for column in columns if column.name.lower() not in allowed_names]
    if missing:
        hint = nearest(missing[0], [column.name for column in columns])
        raise CompileRefusedError(
            f'{what} has a column "{short(missing[0])}", and the rows sent do not{hint}'
        )
    if extra:
        raise CompileRefusedError(
            f'the rows sent have a column "{short(extra[0])}", and {what} does not; choose columns with a map'
        )


def output_key(stream: Stream, rows: KeyedColumns) -> int | None:
    """The position of the column to write under; None where the rows have that key already, or need none."""
    key = stream.key if stream.key_is_decoded else stream.key_in_values
    if key is None or rows.key.is_column(key):
        return None
    positions = {column.name.lower(): position for position, column in enumerate(rows.columns)}
    if key.lower() not in positions:
        raise CompileRefusedError(
            f'stream "{stream.name}" has key "{key}", and the rows sent have no such column'
        )
    return positions[key.lower()]


def new_names(columns: tuple[Column, ...], chosen: Iterable[tuple[int | None, Column]]) -> dict[str, str]:
    """The new name of each column that a choice gives on as it is; the first one where it has several."""
    names: dict[str, str] = {}
    for position, column in chosen:
        if position is not None and position < len(columns):
            names.setdefault(columns[position].name.lower(), column.name)
    return names


def after_python(key: RowKey, *, each: bool) -> RowKey:
    """Nobody knows what a function does to columns; where it gives a row for each, that row keeps its key."""
    return RowKey(None, None, each and key.together)


def group_key(columns: tuple[Column, ...], names: dict[str, str], key: RowKey) -> tuple[RowKey, bool]:
    """The key of groups by these columns, and whether it is composed of them; `names` as of `new_names`."""
    placed_by = key.renamed(names).placed_by
    if placed_by is None:
        raise CompileRefusedError(
            f"rows are partitioned by {_placing(key)}, which is not among what is grouped by, so that equal "
            f"groups may lie in several tasks; {REPARTITION_HINT}",
            reason=Reason.INVALID_GRAPH,
        )
    composed = len(columns) != 1 or not key.is_column(key.placed_by)
    return RowKey(None if composed else placed_by, placed_by), composed


def require_keys_of_task(table: Table, body: JoinTable, column: str | None, key: RowKey) -> None:
    """Refuse to look a key up in a local table that may lie in another task.

    `column` is the one that the operator's key is, None where it is an expression.
    """
    if table.remote is not None or table.broadcast:
        return
    if body.key is None:
        key.demand_together(f'local table "{table.name}"')
    elif not (key.is_column(column) and key.together) and not key.places(column):
        raise CompileRefusedError(
            f'table "{table.name}" is local: each task has the keys that rows were partitioned by, '
            f"which is {_placing(key)}; {REPARTITION_HINT}",
            reason=Reason.INVALID_GRAPH,
        )


def require_joined_keys(left: RowKey | None, right: RowKey | None) -> None:
    """Refuse a join of rows whose equal keys may lie in several tasks; None where a key is not known."""
    for side, key in (("left", left), ("right", right)):
        if key is not None:
            key.demand_together(f"the join's {side} side")


def require_join_condition(body: Join) -> None:
    """Refuse a further condition where rows without a partner are put out."""
    if body.where is not None and body.type != "inner":
        raise CompileRefusedError(
            f"a {body.type} join takes no further condition: filter its sources before it, or its rows after",
            "where",
            Reason.NOT_YET_SUPPORTED,
        )


@dataclass(frozen=True, slots=True)
class JoinedColumn:
    """A column of a join that says no select list: that of the left side where it stands on both."""

    column: Column
    place: int  # among the columns of both sides, the left ones first
    from_left: bool
    from_right: bool

    @property
    def position(self) -> int | None:
        """The place, where the column is taken as it is."""
        return None if self.from_left and self.from_right else self.place


def joined_columns(body: Join, left: KeyedColumns, right: KeyedColumns) -> tuple[JoinedColumn, ...]:
    """All columns of both sides; the key stands once, and is that of the side that has a row."""
    names = {column.name.lower() for column in left.columns}
    shared_key = left.key.column is not None and right.key.is_column(left.key.column)
    keeps_right = body.type in {"right", "full"}
    joined = [
        JoinedColumn(column, place, True, shared_key and left.key.is_column(column.name) and keeps_right)
        for place, column in enumerate(left.columns)
    ]
    for place, column in enumerate(right.columns, len(left.columns)):
        if shared_key and right.key.is_column(column.name):
            continue
        if column.name.lower() in names:
            raise CompileRefusedError(
                f'both sides have a column "{column.name}"; say what is wanted in a select list'
            )
        joined.append(JoinedColumn(column, place, False, True))
    return tuple(joined)


def joined_key(
    chosen: Iterable[tuple[int | None, Column]], left: KeyedColumns, right: KeyedColumns
) -> RowKey:
    """The left's key column where it is kept as it is, else the right's."""
    names = {position: column.name for position, column in chosen}

    def kept(key_columns: tuple[str | None, str | None]) -> str | None:
        start = 0
        for rows, key_column in zip((left, right), key_columns, strict=True):
            for place, column in enumerate(rows.columns):
                is_key = key_column is not None and column.name.lower() == key_column.lower()
                if is_key and start + place in names:
                    return names[start + place]
            start += len(rows.columns)
        return None

    return RowKey(kept((left.key.column, right.key.column)), kept((left.key.placed_by, right.key.placed_by)))


def _placing(key: RowKey) -> str:
    return f'"{key.placed_by}"' if key.placed_by else "no known column"


def _column_texts(columns: tuple[Column, ...]) -> str:
    return "(" + ", ".join(f"{c.name} {c.type}".strip() for c in columns) + ")"
