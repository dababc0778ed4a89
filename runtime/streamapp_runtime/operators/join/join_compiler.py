"""Stream-stream joins: rows of equal keys that come within a time of each other."""

from streamapp.columns.column_rules import (
    JoinedColumn,
    joined_columns,
    joined_key,
    require_join_condition,
    require_joined_keys,
)
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.spec.resource.operators import Join
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.expressions.select_list import condition, select
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
from streamapp_runtime.operators.join.join_operation import JoinStreams


def compile_join(
    body: Join, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Pair rows, then keep what is wanted of both."""
    left, right = flows
    with refusals_within("from"):
        require_joined_keys(left.key, right.key)
    scope = ColumnScope(
        (ScopeSide("left", left.columns), ScopeSide("right", right.columns)), first_wins=False
    )
    with refusals_within("select"):
        chosen = select(context.spark, body.select or _all_columns(body, left, right), scope)

    def operation(positions: tuple[int, ...]) -> JoinStreams:
        return JoinStreams(name, body.type, milliseconds(body.within), body.time, positions)

    key = joined_key(chosen.chosen(), left, right)
    if body.where is None:
        return _with_right(
            with_final_select(
                PieceChain(name, left), operation, scope.columns, chosen.columns, chosen.outputs, key
            ),
            right,
        )
    require_join_condition(body)
    with refusals_within("where"):
        where = condition(context.spark, body.where, scope)
    both = (*left.columns, *right.columns)
    every = column_templates(len(both))
    paired = PieceChain(name, left).then("", operation(tuple(range(len(both)))), both, key)
    filtered = paired.then("where", SqlPart(every, where=where, judgeable=where.in_python), both, key)
    return _with_right(filtered.then("select", SqlPart(chosen.outputs), chosen.columns, key), right)


def _with_right(chain: PieceChain, right: RowFlow) -> CompiledOperator:
    """The chain, whose first piece also reads the right side."""
    first = chain.pieces[0]
    both = Piece(first.name, first.operator, (*first.sources, right.piece), first.work, first.columns)
    return CompiledOperator((both, *chain.pieces[1:]), chain.flow)


def _all_columns(body: Join, left: RowFlow, right: RowFlow) -> str:
    """A select list of what a join without one puts out."""
    return ", ".join(_entry(joined) for joined in joined_columns(body, left, right))


def _entry(joined: JoinedColumn) -> str:
    name = quoted(joined.column.name)
    if joined.from_left and joined.from_right:
        return f"coalesce(left.{name}, right.{name}) AS {name}"
    return f"{'left' if joined.from_left else 'right'}.{name}"
