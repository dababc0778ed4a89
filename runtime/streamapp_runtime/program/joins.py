"""Stream-stream joins: rows of equal keys that come within a time of each other."""

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operators import Join
from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.program.finish import finish
from streamapp_runtime.program.keys import Key
from streamapp_runtime.program.operations import JoinStreams
from streamapp_runtime.program.piece import Chain, Compiled, Flow, Piece, SqlPart
from streamapp_runtime.program.refusal import RefusedError
from streamapp_runtime.program.scope import Scope, Side
from streamapp_runtime.program.selection import Selection, condition, select
from streamapp_runtime.program.sql_types import quoted
from streamapp_runtime.program.template import columns
from streamapp_runtime.program.within import within
from streamapp_runtime.program.world import World


def compile_join(body: Join, name: str, flows: tuple[Flow, ...], world: World) -> Compiled:
    """Pair rows, then keep what is wanted of both."""
    left, right = flows
    with within("from"):
        left.key.demand_together("the join's left side")
        right.key.demand_together("the join's right side")
    scope = Scope((Side("left", left.columns), Side("right", right.columns)), first_wins=False)
    with within("select"):
        chosen = select(world.spark, body.select or _everything(body, left, right), scope)

    def operation(positions: tuple[int, ...]) -> JoinStreams:
        return JoinStreams(name, body.type, milliseconds(body.within), body.time, positions)

    key = _key(chosen, scope, left, right)
    if body.where is None:
        return _with_right(
            finish(Chain(name, left), operation, scope.columns, chosen.columns, chosen.outputs, key), right
        )
    if body.type != "inner":
        raise RefusedError(
            f"a {body.type} join takes no further condition: filter its sources before it, or its rows after",
            "where",
            Reason.NOT_YET_SUPPORTED,
        )
    with within("where"):
        where = condition(world.spark, body.where, scope)
    both = (*left.columns, *right.columns)
    every = columns(len(both))
    paired = Chain(name, left).then("", operation(tuple(range(len(both)))), both, key)
    kept = paired.then("where", SqlPart(every, where=where), both, key)
    return _with_right(kept.then("select", SqlPart(chosen.outputs), chosen.columns, key), right)


def _with_right(chain: Chain, right: Flow) -> Compiled:
    """The chain, whose first piece also reads the right side."""
    first = chain.pieces[0]
    both = Piece(first.name, first.operator, (*first.sources, right.piece), first.work, first.columns)
    return Compiled((both, *chain.pieces[1:]), chain.flow)


def _everything(body: Join, left: Flow, right: Flow) -> str:
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
            raise RefusedError(
                f'both sides have a column "{column.name}"; say what is wanted in a select list'
            )
        entries.append(f"right.{quoted(column.name)}")
    return ", ".join(entries)


def _key(chosen: Selection, scope: Scope, left: Flow, right: Flow) -> Key:
    """The left's key column where it is kept by that name, else the right's."""
    positions = {t.column: c.name for t, c in zip(chosen.outputs, chosen.columns, strict=True)}
    start = len(left.columns)
    sides = ((left, 0), (right, start))
    column = _kept(positions, [(flow.columns, at, flow.key.column) for flow, at in sides])
    placed = _kept(positions, [(flow.columns, at, flow.key.placed_by) for flow, at in sides])
    return Key(column, placed)


def _kept(
    positions: dict[int | None, str], sides: list[tuple[tuple[Column, ...], int, str | None]]
) -> str | None:
    for given, start, name in sides:
        for place, column in enumerate(given):
            if name is not None and column.name.lower() == name.lower() and start + place in positions:
                return positions[start + place]
    return None
