"""Operators on single rows: filter, map, flatMap, merge."""

from streamapp.columns.column_rules import after_python, merged_key, require_same_columns
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.spec.resource.operators import Filter, FlatMap, Map, Merge
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.expressions.analysis import canonical
from streamapp_runtime.expressions.plain.plain_value import plain_condition
from streamapp_runtime.expressions.select_list import condition, select, select_with_generator
from streamapp_runtime.expressions.template import Template, column_templates, substituted
from streamapp_runtime.operators.compilation.column_fit import nullable_columns, with_required_columns
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.key_change import key_value, rekey
from streamapp_runtime.operators.compilation.piece import (
    CompiledOperator,
    Piece,
    PieceChain,
    RowFlow,
    SqlPart,
)
from streamapp_runtime.operators.user_code.user_operations import PythonMap


def compile_filter(
    body: Filter, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Keep the rows for which a condition holds; tombstones pass."""
    (flow,) = flows
    scope = ColumnScope((ScopeSide("", flow.columns),))
    with refusals_within("where"):
        where = condition(context.spark, body.where, scope)
    judgeable = plain_condition(body.where, scope)
    part = SqlPart(column_templates(len(flow.columns)), where=where, judgeable=judgeable)
    return PieceChain(name, flow).then("", part, flow.columns, flow.key).done()


def compile_map(
    body: Map | FlatMap, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Make other columns, and another key where one is given."""
    (flow,) = flows
    scope = ColumnScope((ScopeSide("", flow.columns),))
    if body.python is not None:
        columns = _declared(body.columns)
        each = isinstance(body, Map)
        function, row_key = PythonMap(body.python, each), after_python(flow.key, each=each)
        chain = PieceChain(name, flow).then("", function, nullable_columns(columns), row_key)
        chain = with_required_columns(chain, columns, f'operator "{name}"')
        if body.key is None:
            return chain.done()
        change = rekey(context.spark, body.key, chain.flow)
        part = change.keyed(len(columns), tombstones_keep_key=False)
        return chain.then("key", part, nullable_columns(columns), change.row_key).done()
    with refusals_within("select"):
        read = select if isinstance(body, Map) else select_with_generator
        chosen = read(context.spark, body.select or "*", scope)
    row_key = flow.key.renamed(chosen.unchanged_columns(flow.columns))
    part = SqlPart(chosen.outputs, generator=chosen.generator)
    if body.key is not None:
        after = RowFlow("", chosen.columns, row_key)
        change = rekey(context.spark, body.key, after)
        row_key = change.row_key
        key = substituted(change.key, chosen.outputs)
        part = SqlPart(
            chosen.outputs,
            key=key,
            tombstones_keep_key=after.key.is_column(row_key.column),
            generator=chosen.generator,
            key_value=key_value(key, change.type),
        )
    return PieceChain(name, flow).then("", part, chosen.columns, row_key).done()


def compile_merge(_: Merge, name: str, flows: tuple[RowFlow, ...], __: CompileContext) -> CompiledOperator:
    """Take the rows of several sources as one; their columns have to be the same, in any order."""
    first = flows[0]
    pieces: list[Piece] = []
    sources: list[str] = []
    for number, flow in enumerate(flows):
        require_same_columns(first.columns, flow.columns)
        place = {c.name.lower(): position for position, c in enumerate(flow.columns)}
        order = tuple(place[c.name.lower()] for c in first.columns)
        if order == tuple(range(len(order))):
            sources.append(flow.piece)
            continue
        ordered = SqlPart(tuple(Template((position,)) for position in order))
        pieces.append(Piece(f"{name}/from-{number}", name, (flow.piece,), ordered, first.columns))
        sources.append(pieces[-1].name)
    row_key = merged_key([flow.key for flow in flows])
    merged = Piece(name, name, tuple(sources), SqlPart(column_templates(len(first.columns))), first.columns)
    return CompiledOperator((*pieces, merged), RowFlow(name, first.columns, row_key))


def _declared(text: str | None) -> tuple[Column, ...]:
    with refusals_within("columns"):
        return canonical(parse_columns(text)) if text else ()
