"""Stream-stream joins: rows of equal keys that come within a time of each other."""

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operators import Join
from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.expressions.column_scope import ColumnScope, ScopeSide
from streamapp_runtime.expressions.compile_refusal import CompileRefusedError, refusals_within
from streamapp_runtime.expressions.select_list import SelectList, condition, select
from streamapp_runtime.expressions.sql_types import quoted
from streamapp_runtime.expressions.template import column_templates
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.final_select import with_final_select
from streamapp_runtime.operators.compilation.piece import (
    CompiledOperator,
    Piece,
    PieceChain,
    RowFlow,
    SqlPart,
)
from streamapp_runtime.operators.compilation.row_key import RowKey
from streamapp_runtime.operators.join.join_operation import JoinStreams


def compile_join(
    body: Join, name: str, flows: tuple[RowFlow, ...], world: CompileContext
) -> CompiledOperator:
    """Pair rows, then keep what is wanted of both."""
    left, right = flows
    with refusals_within("from"):
        left.key.demand_together("the join's left side")
        right.key.demand_together("the join's right side")
    scope = ColumnScope(
        (ScopeSide("left", left.columns), ScopeSide("right", right.columns)), first_wins=False
    )
    with refusals_within("select"):
        chosen = select(world.spark, body.select or _everything(body, left, right), scope)

    def operation(positions: tuple[int, ...]) -> JoinStreams:
        return JoinStreams(name, body.type, milliseconds(body.within), body.time, positions)

    key = _key(chosen, scope, left, right)
    if body.where is None:
        return _with_right(
            with_final_select(
                PieceChain(name, left), operation, scope.columns, chosen.columns, chosen.outputs, key
            ),
            right,
        )
    if body.type != "inner":
        raise CompileRefusedError(
            f"a {body.type} join takes no further condition: filter its sources before it, or its rows after",
            "where",
            Reason.NOT_YET_SUPPORTED,
        )
    with refusals_within("where"):
        where = condition(world.spark, body.where, scope)
    both = (*left.columns, *right.columns)
    every = column_templates(len(both))
    paired = PieceChain(name, left).then("", operation(tuple(range(len(both)))), both, key)
    filtered = paired.then("where", SqlPart(every, where=where), both, key)
    return _with_right(filtered.then("select", SqlPart(chosen.outputs), chosen.columns, key), right)


def _with_right(chain: PieceChain, right: RowFlow) -> CompiledOperator:
    """The chain, whose first piece also reads the right side."""
    first = chain.pieces[0]
    both = Piece(first.name, first.operator, (*first.sources, right.piece), first.work, first.columns)
    return CompiledOperator((both, *chain.pieces[1:]), chain.flow)


def _everything(body: Join, left: RowFlow, right: RowFlow) -> str:
    """All columns of both sides; the key stands once, and is that of the side that has a row."""
    lefts = {column.name.lower() for column in left.columns}
    shared_key = left.key.column is not None and right.key.is_column(left.key.column)
    entries = [
        f"coalesce(left.{quoted(c.name)}, right.{quoted(c.name)}) AS {quoted(c.name)}"
        if shared_key and left.key.is_column(c.name) and body.type in {"right", "full"}
        else f"left.{quoted(c.name)}"
        for c in left.columns
    ]
    for column in right.columns:
        if shared_key and right.key.is_column(column.name):
            continue
        if column.name.lower() in lefts:
            raise CompileRefusedError(
                f'both sides have a column "{column.name}"; say what is wanted in a select list'
            )
        entries.append(f"right.{quoted(column.name)}")
    return ", ".join(entries)


def _key(chosen: SelectList, scope: ColumnScope, left: RowFlow, right: RowFlow) -> RowKey:
    """The left's key column where it is kept by that name, else the right's."""
    positions = {t.column: c.name for t, c in zip(chosen.outputs, chosen.columns, strict=True)}
    start = len(left.columns)
    sides = ((left, 0), (right, start))
    column = _kept(positions, [(flow.columns, at, flow.key.column) for flow, at in sides])
    placed = _kept(positions, [(flow.columns, at, flow.key.placed_by) for flow, at in sides])
    return RowKey(column, placed)


def _kept(
    positions: dict[int | None, str], sides: list[tuple[tuple[Column, ...], int, str | None]]
) -> str | None:
    for columns, start, name in sides:
        for place, column in enumerate(columns):
            if name is not None and column.name.lower() == name.lower() and start + place in positions:
                return positions[start + place]
    return None
