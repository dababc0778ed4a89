"""Aggregate operators: what to group by, how time is cut, and the totals of each group."""

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operators import Aggregate, Window
from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.program.finish import finish
from streamapp_runtime.program.keys import MEND, Key
from streamapp_runtime.program.operations import Span, Totals
from streamapp_runtime.program.piece import Chain, Compiled, Flow, SqlPart
from streamapp_runtime.program.refusal import RefusedError
from streamapp_runtime.program.scope import Scope, Side
from streamapp_runtime.program.selection import Selection, select, unique
from streamapp_runtime.program.template import Template, all_columns, column, columns
from streamapp_runtime.program.totals import State, partials, split
from streamapp_runtime.program.within import within
from streamapp_runtime.program.world import World

WINDOW = (Column("window_start", "TIMESTAMP"), Column("window_end", "TIMESTAMP"))
"""What an aggregate with a window puts out between its key and its totals."""


def compile_aggregate(body: Aggregate, name: str, flow: Flow, world: World) -> Compiled:
    """Reduce rows to one per key, and per window where there is one."""
    rows = Scope((Side("", flow.columns),))
    with within("key"):
        grouped, key, composed = _group(body, flow, world)
    before = (*grouped.columns, *(WINDOW if body.window else ()))
    with within("aggregates"):
        unique(before)
        parts = split(world.spark, body.aggregates, rows, before)
    taken = [*grouped.outputs, *(state.argument for state in parts.states if state.argument)]
    chain, positions = _arguments(Chain(name, flow), taken, _types(grouped, parts.states))
    keys = tuple(positions[: len(grouped.outputs)])
    rest = iter(positions[len(keys) :])
    kept = partials(parts.states, [next(rest) if state.argument else None for state in parts.states])

    def operation(wanted: tuple[int, ...]) -> Totals:
        width = len(chain.flow.columns)
        chosen = tuple(keys[p] if p < len(keys) else width + p - len(keys) for p in wanted)
        emit = body.emit or ("onWatermark" if body.window else "onUpdate")
        late = milliseconds(body.allowed_lateness)
        return Totals(name, keys, composed, kept, _span(body.window), emit, late, chosen)

    given = (*before, *(Column(f"state-{n}", state.type) for n, state in enumerate(parts.states)))
    outputs = (*columns(len(before)), *parts.outputs)
    return finish(chain, operation, given, (*before, *parts.columns), outputs, key).done()


def _types(grouped: Selection, states: tuple[State, ...]) -> tuple[Column, ...]:
    arguments = [state for state in states if state.argument]
    return (*grouped.columns, *(Column(f"argument-{n}", s.argument_type) for n, s in enumerate(arguments)))


def _group(body: Aggregate, flow: Flow, world: World) -> tuple[Selection, Key, bool]:
    """Columns to group by, the key of what is put out, and whether that is composed of several."""
    if body.key is None:
        flow.key.demand_together("an aggregate")
        place = {c.name.lower(): p for p, c in enumerate(flow.columns)}
        known = place.get((flow.key.column or "").lower())
        if known is None:
            return Selection((), ()), flow.key.renamed({}), False
        return Selection((flow.columns[known],), (column(known),)), flow.key, False
    grouped = select(world.spark, body.key, Scope((Side("", flow.columns),)))
    kept = grouped.kept(flow.columns)
    placed_by = flow.key.renamed(kept).placed_by
    if placed_by is None:
        by = f'"{flow.key.placed_by}"' if flow.key.placed_by else "no known column"
        raise RefusedError(
            f"rows are partitioned by {by}, which is not among what is grouped by, so that equal groups may "
            f"lie in several tasks; {MEND}",
            reason=Reason.INVALID_GRAPH,
        )
    if len(grouped.columns) == 1 and flow.key.is_column(flow.key.placed_by):
        return grouped, Key(placed_by, placed_by), False
    return grouped, Key(None, placed_by), True


def _arguments(chain: Chain, taken: list[Template], types: tuple[Column, ...]) -> tuple[Chain, list[int]]:
    """A step that computes what totals are taken over, where these are not columns as they are."""
    if all_columns(taken):
        return chain, [c for c in (t.column for t in taken) if c is not None]
    step = chain.then("arguments", SqlPart(tuple(taken)), types, chain.flow.key)
    return step, list(range(len(taken)))


def _span(window: Window | None) -> Span | None:
    if window is None:
        return None
    if window.tumbling:
        size = milliseconds(window.tumbling.size)
        return Span("tumbling", size, size)
    if window.hopping:
        return Span("hopping", milliseconds(window.hopping.size), milliseconds(window.hopping.advance))
    return Span("session", milliseconds(window.session.gap) if window.session else 0, 0)
