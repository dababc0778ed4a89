"""The rows that each kind of operator makes of those that it reads, as far as that is sure without Spark."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from streamapp.columns.column_rules import (
    WINDOW_COLUMNS,
    after_python,
    group_key,
    input_columns,
    joined_columns,
    joined_key,
    merged_key,
    new_names,
    output_columns,
    output_key,
    require_fitting_names,
    require_join_condition,
    require_joined_keys,
    require_keys_of_task,
    require_same_columns,
    require_unique,
)
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.columns.known_types import UNKNOWN, with_known_types
from streamapp.columns.row_key import RowKey
from streamapp.columns.sql_columns import Chosen, SqlReader
from streamapp.spec.resource.app import Spec
from streamapp.spec.resource.operator_kinds import OperatorKind, require_rows
from streamapp.spec.resource.operators import (
    Aggregate,
    Broadcast,
    Filter,
    FlatMap,
    Join,
    JoinTable,
    Map,
    Merge,
    Operator,
    PartitionBy,
    Process,
    SendTo,
    SendToTable,
)
from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import Column, parse_columns


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Rows of which all columns are known by name, and the key."""

    columns: tuple[Column, ...]
    key: RowKey

    @property
    def scope(self) -> ColumnScope:
        """The columns that an expression over these rows may name."""
        return ColumnScope((ScopeSide("", self.columns),))


Rows = KnownRows | None
"""None: only Spark can tell."""


@dataclass(frozen=True, slots=True)
class ColumnContext:
    """The context in which an operator is looked at, beside its own entry and the rows that it reads."""

    spec: Spec
    sql: SqlReader
    table_columns: Mapping[str, tuple[Column, ...]]


def declared_columns(text: str | None) -> tuple[Column, ...]:
    """The columns that a list declares, as rows have them; none where there is no list."""
    return with_known_types(parse_columns(text)) if text else ()


def input_rows(stream: Stream) -> KnownRows:
    """The rows of a stream that the app reads."""
    of_keys = declared_columns(stream.metadata.key_columns if stream.metadata else None)
    columns = input_columns(stream, declared_columns(stream.columns), of_keys)
    return KnownRows(with_known_types(columns), RowKey(stream.key, stream.key))


def rekeyed(text: str, rows: KnownRows, sql: SqlReader) -> Rows:
    """The rows under another key, which stay in their tasks."""
    with refusals_within("key"):
        column = sql.key(text, rows.scope)
    return None if column is None else KnownRows(rows.columns, rows.key.changed(column[0]))


def _filter(body: Filter, rows: KnownRows, context: ColumnContext) -> Rows:
    with refusals_within("where"):
        context.sql.condition(body.where, rows.scope)
    return rows


def _map(body: Map | FlatMap, rows: KnownRows, context: ColumnContext) -> Rows:
    if body.python is not None:
        made = KnownRows(declared_columns(body.columns), after_python(rows.key, each=isinstance(body, Map)))
    else:
        chosen = _selected(body, rows, context)
        if chosen is None:
            return None
        key = rows.key.renamed(new_names(rows.columns, chosen))
        made = KnownRows(tuple(column for _, column in chosen), key)
    return made if body.key is None else rekeyed(body.key, made, context.sql)


def _selected(body: Map | FlatMap, rows: KnownRows, context: ColumnContext) -> tuple[Chosen, ...] | None:
    with refusals_within("select"):
        return context.sql.select(body.select or "*", rows.scope, generators=isinstance(body, FlatMap))


def _partition_by(body: PartitionBy, rows: KnownRows, context: ColumnContext) -> Rows:
    made = rekeyed(body.key, rows, context.sql)
    return made and KnownRows(made.columns, RowKey(made.key.column, made.key.column))


def _broadcast(_: Broadcast, rows: KnownRows, __: ColumnContext) -> Rows:
    return rows


def _process(body: Process, _: Rows, context: ColumnContext) -> Rows:
    made = KnownRows(declared_columns(body.columns), RowKey(None, None))
    return made if body.key is None else rekeyed(body.key, made, context.sql)


def _aggregate(body: Aggregate, rows: KnownRows, context: ColumnContext) -> Rows:
    with refusals_within("key"):
        grouped = _grouped(body, rows, context)
    if grouped is None:
        return None
    before = (*grouped.columns, *(WINDOW_COLUMNS if body.window else ()))
    scope = ColumnScope((ScopeSide("", before), *rows.scope.sides))
    with refusals_within("aggregates"):
        require_unique(before)
        totals = context.sql.aggregates(body.aggregates, scope)
        if totals is None:
            return None
        return KnownRows(require_unique((*before, *totals)), grouped.key)


def _grouped(body: Aggregate, rows: KnownRows, context: ColumnContext) -> Rows:
    """The columns that are grouped by, and the key of the groups."""
    if body.key is None:
        rows.key.demand_together("an aggregate")
        columns = tuple(column for column in rows.columns if rows.key.is_column(column.name))
        return KnownRows(columns, rows.key if columns else rows.key.renamed({}))
    chosen = context.sql.select(body.key, rows.scope)
    if chosen is None:
        return None
    columns = tuple(column for _, column in chosen)
    key, _ = group_key(columns, new_names(rows.columns, chosen), rows.key)
    return KnownRows(columns, key)


def _join_table(body: JoinTable, rows: KnownRows, context: ColumnContext) -> Rows:
    table = context.spec.table(body.table)
    with refusals_within("key"):
        column = (None,) if body.key is None else context.sql.key(body.key, rows.scope)
        if column is not None:
            require_keys_of_task(table, body, column[0], rows.key)
    if table.name not in context.table_columns:
        return None
    sides = (*rows.scope.sides, ScopeSide(table.name, context.table_columns[table.name]))
    with refusals_within("select"):
        chosen = context.sql.select(body.select or "*", ColumnScope(sides))
    if chosen is None:
        return None
    key = rows.key.renamed(new_names(rows.columns, chosen))
    return KnownRows(tuple(column for _, column in chosen), key)


def _send_to_table(body: SendToTable, rows: KnownRows, context: ColumnContext) -> Rows:
    with refusals_within("table"):
        if body.table in context.table_columns:
            require_fitting_names(rows.columns, context.table_columns[body.table], f'table "{body.table}"')
        rows.key.demand_together(f'table "{body.table}"')
    if body.delete_where is not None:
        with refusals_within("deleteWhere"):
            context.sql.condition(body.delete_where, rows.scope)
    return None


def _send_to(body: SendTo, rows: KnownRows, context: ColumnContext) -> Rows:
    stream = context.spec.stream(body.stream)
    spare: set[str] = set()
    for field, text in (("timestamp", body.timestamp), ("headers", body.headers)):
        with refusals_within(field):
            spare |= frozenset() if text is None else context.sql.names(text, rows.scope)
    with refusals_within("stream"):
        of_keys = declared_columns(stream.metadata.key_columns if stream.metadata else None)
        columns = output_columns(stream, declared_columns(stream.columns), of_keys, rows)
        require_fitting_names(rows.columns, (*columns, *of_keys), f'stream "{stream.name}"', spare)
        output_key(stream, rows)
    return None


def _merge(_: Merge, rows: tuple[Rows, ...], __: ColumnContext) -> Rows:
    first, *others = rows
    for other in others:
        if first is not None and other is not None:
            require_same_columns(first.columns, other.columns)
    known = [each for each in rows if each is not None]
    if first is None or len(known) < len(rows):
        return None
    types = {column.name.lower(): column.type for each in known for column in each.columns if column.type}
    columns = tuple(Column(c.name, types.get(c.name.lower(), UNKNOWN)) for c in first.columns)
    return KnownRows(columns, merged_key([each.key for each in known]))


def _join(body: Join, rows: tuple[Rows, ...], context: ColumnContext) -> Rows:
    left, right = rows
    with refusals_within("from"):
        require_joined_keys(*(each.key if each is not None else None for each in rows))
    require_join_condition(body)
    if left is None or right is None:
        return None
    sides = (ScopeSide("left", left.columns), ScopeSide("right", right.columns))
    scope = ColumnScope(sides, first_wins=False)
    with refusals_within("select"):
        chosen = (
            tuple((joined.position, joined.column) for joined in joined_columns(body, left, right))
            if body.select is None
            else context.sql.select(body.select, scope)
        )
    if body.where is not None:
        with refusals_within("where"):
            context.sql.condition(body.where, scope)
    if chosen is None:
        return None
    return KnownRows(tuple(column for _, column in chosen), joined_key(chosen, left, right))


OneSource = Callable[[Any, KnownRows, ColumnContext], Rows]
SeveralSources = Callable[[Any, tuple[Rows, ...], ColumnContext], Rows]


def _of_one(rule: OneSource) -> SeveralSources:
    """The rule for an operator that reads one source: nothing is said where that is not known."""
    return lambda body, rows, context: None if rows[0] is None else rule(body, rows[0], context)


KIND_COLUMNS: Final[Mapping[OperatorKind, SeveralSources]] = {
    OperatorKind.FILTER: _of_one(_filter),
    OperatorKind.MAP: _of_one(_map),
    OperatorKind.FLAT_MAP: _of_one(_map),
    OperatorKind.MERGE: _merge,
    OperatorKind.PARTITION_BY: _of_one(_partition_by),
    OperatorKind.BROADCAST: _of_one(_broadcast),
    OperatorKind.JOIN: _join,
    OperatorKind.JOIN_TABLE: _of_one(_join_table),
    OperatorKind.SEND_TO_TABLE: _of_one(_send_to_table),
    OperatorKind.AGGREGATE: _of_one(_aggregate),
    OperatorKind.PROCESS: lambda body, rows, context: _process(body, rows[0], context),
    OperatorKind.SEND_TO: _of_one(_send_to),
}
require_rows("KIND_COLUMNS", KIND_COLUMNS, Operator.kinds())


def operator_rows(operator: Operator, rows: tuple[Rows, ...], context: ColumnContext) -> Rows:
    """The rows that an operator hands on; CompileRefusedError where it surely cannot make them."""
    return KIND_COLUMNS[OperatorKind(operator.kind)](operator.body, rows, context)
