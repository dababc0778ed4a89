"""Aggregate operators: what to group by, how time is cut, and the totals of each group."""

from streamapp.columns.column_rules import WINDOW_COLUMNS, group_key, require_unique
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.columns.row_key import RowKey
from streamapp.spec.resource.operators import Aggregate, Hopping, Session, Tumbling, Window
from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.expressions.select_list import SelectList, select
from streamapp_runtime.expressions.template import Template, all_columns, column_template, column_templates
from streamapp_runtime.operators.aggregate.aggregate_list import (
    PartialState,
    partial_totals,
    split_aggregates,
)
from streamapp_runtime.operators.aggregate.totals_operation import Span, Totals
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.final_select import with_final_select
from streamapp_runtime.operators.compilation.piece import CompiledOperator, PieceChain, RowFlow, SqlPart


def compile_aggregate(
    body: Aggregate, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Reduce rows to one per key, and per window where there is one."""
    (flow,) = flows
    rows = ColumnScope((ScopeSide("", flow.columns),))
    with refusals_within("key"):
        grouped, key, composed = _group(body, flow, context)
    before = (*grouped.columns, *(WINDOW_COLUMNS if body.window else ()))
    with refusals_within("aggregates"):
        require_unique(before)
        parts = split_aggregates(context.spark, body.aggregates, rows, before)
    templates = [*grouped.outputs, *(state.argument for state in parts.states if state.argument)]
    chain, positions = _arguments(PieceChain(name, flow), templates, _types(grouped, parts.states))
    keys = tuple(positions[: len(grouped.outputs)])
    placing = [place for place, column in zip(keys, grouped.columns, strict=True) if key.places(column.name)]
    placed_by = placing[0] if composed else None
    further_positions = iter(positions[len(keys) :])
    partials = partial_totals(
        parts.states,
        [next(further_positions) if state.argument else None for state in parts.states],
        [column.name for column in flow.columns],
    )

    def operation(positions_out: tuple[int, ...]) -> Totals:
        width = len(chain.flow.columns)
        chosen = tuple(keys[p] if p < len(keys) else width + p - len(keys) for p in positions_out)
        emit = body.emit or ("onWatermark" if body.window else "onUpdate")
        late = milliseconds(body.allowed_lateness)
        span = _span(body.window)
        return Totals(name, keys, composed, partials, span, emit, late, chosen, placed_by)

    stored_columns = (*before, *(Column(f"state-{n}", state.type) for n, state in enumerate(parts.states)))
    outputs = (*column_templates(len(before)), *parts.outputs)
    return with_final_select(chain, operation, stored_columns, (*before, *parts.columns), outputs, key).done()


def _types(grouped: SelectList, states: tuple[PartialState, ...]) -> tuple[Column, ...]:
    arguments = [state for state in states if state.argument]
    return (*grouped.columns, *(Column(f"argument-{n}", s.argument_type) for n, s in enumerate(arguments)))


def _group(body: Aggregate, flow: RowFlow, context: CompileContext) -> tuple[SelectList, RowKey, bool]:
    """Columns to group by, the key of what is put out, and whether that is composed of several."""
    if body.key is None:
        flow.key.demand_together("an aggregate")
        place = {c.name.lower(): p for p, c in enumerate(flow.columns)}
        key_position = place.get((flow.key.column or "").lower())
        if key_position is None:
            return SelectList((), ()), flow.key.renamed({}), False
        return SelectList((flow.columns[key_position],), (column_template(key_position),)), flow.key, False
    grouped = select(context.spark, body.key, ColumnScope((ScopeSide("", flow.columns),)))
    return grouped, *group_key(grouped.columns, grouped.unchanged_columns(flow.columns), flow.key)


def _arguments(
    chain: PieceChain, templates: list[Template], types: tuple[Column, ...]
) -> tuple[PieceChain, list[int]]:
    """A step that computes what totals are taken over, where these are not columns as they are."""
    if all_columns(templates):
        return chain, [c for c in (t.column for t in templates) if c is not None]
    step = chain.then("arguments", SqlPart(tuple(templates)), types, chain.flow.key)
    return step, list(range(len(templates)))


def _span(window: Window | None) -> Span | None:
    match window and window.body:
        case None:
            return None
        case Tumbling(size=size):
            return Span("tumbling", milliseconds(size), milliseconds(size))
        case Hopping(size=size, advance=advance):
            return Span("hopping", milliseconds(size), milliseconds(advance))
        case Session(gap=gap):
            return Span("session", milliseconds(gap), 0)
        case unknown:
            raise TypeError(f"no such window: {unknown!r}")
