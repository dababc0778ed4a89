"""Operators on single rows: filter, map, flatMap, merge."""

from pyspark.sql import SparkSession

from streamapp.spec.resource.operators import Filter, FlatMap, Map, Merge
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.program.analysis import canonical
from streamapp_runtime.program.expression import expression
from streamapp_runtime.program.judgeable import judgeable
from streamapp_runtime.program.keys import Key
from streamapp_runtime.program.operations import PythonMap
from streamapp_runtime.program.piece import Chain, Compiled, Flow, Piece, SqlPart
from streamapp_runtime.program.refusal import RefusedError
from streamapp_runtime.program.scope import Scope, Side
from streamapp_runtime.program.selection import condition, select, select_with_generator
from streamapp_runtime.program.template import Template, columns
from streamapp_runtime.program.within import within
from streamapp_runtime.program.world import World


def compile_filter(body: Filter, name: str, flow: Flow, world: World) -> Compiled:
    """Keep the rows for which a condition holds; tombstones pass."""
    scope = Scope((Side("", flow.columns),))
    with within("where"):
        where = condition(world.spark, body.where, scope)
    predicate = judgeable(world.spark, body.where, scope)
    part = SqlPart(columns(len(flow.columns)), where=where, judgeable=predicate)
    return Chain(name, flow).then("", part, flow.columns, flow.key).done()


def compile_map(body: Map | FlatMap, name: str, flow: Flow, world: World) -> Compiled:
    """Make other columns, and another key where one is given."""
    scope = Scope((Side("", flow.columns),))
    if body.python is not None:
        made = _declared(body.columns)
        each = isinstance(body, Map)
        chain = Chain(name, flow).then("", PythonMap(body.python, each), made, _after_python(flow, each))
        if body.key is None:
            return chain.done()
        key, known = rekey(world.spark, body.key, chain.flow)
        part = SqlPart(columns(len(made)), key=key, tombstones_keep_key=False)
        return chain.then("key", part, made, known).done()
    with within("select"):
        read = select if isinstance(body, Map) else select_with_generator
        chosen = read(world.spark, body.select or "*", scope)
    known = flow.key.renamed(chosen.kept(flow.columns))
    part = SqlPart(chosen.outputs, generator=chosen.generator)
    if body.key is not None:
        after = Flow("", chosen.columns, known)
        key, known = rekey(world.spark, body.key, after)
        part = SqlPart(
            chosen.outputs,
            key=composed(key, chosen.outputs),
            tombstones_keep_key=after.key.is_column(known.column),
            generator=chosen.generator,
        )
    return Chain(name, flow).then("", part, chosen.columns, known).done()


def compile_merge(_: Merge, name: str, flows: tuple[Flow, ...]) -> Compiled:
    """Take the rows of several sources as one; their columns have to be the same, in any order."""
    first = flows[0]
    shape = {c.name.lower(): c.type for c in first.columns}
    pieces: list[Piece] = []
    sources: list[str] = []
    for number, flow in enumerate(flows):
        if {c.name.lower(): c.type for c in flow.columns} != shape:
            raise RefusedError(
                f"the sources have different columns: {_told(first.columns)} and {_told(flow.columns)}",
                "from",
            )
        place = {c.name.lower(): position for position, c in enumerate(flow.columns)}
        order = tuple(place[c.name.lower()] for c in first.columns)
        if order == tuple(range(len(order))):
            sources.append(flow.piece)
            continue
        ordered = SqlPart(tuple(Template((position,)) for position in order))
        pieces.append(Piece(f"{name}/from-{number}", name, (flow.piece,), ordered, first.columns))
        sources.append(pieces[-1].name)
    keys = {flow.key for flow in flows}
    known = first.key if len(keys) == 1 else Key(None, None, all(flow.key.together for flow in flows))
    merged = Piece(name, name, tuple(sources), SqlPart(columns(len(first.columns))), first.columns)
    return Compiled((*pieces, merged), Flow(name, first.columns, known))


def rekey(spark: SparkSession, text: str, flow: Flow) -> tuple[Template, Key]:
    """A new key over a flow's columns, and what is then known of it."""
    with within("key"):
        key, _ = expression(spark, text, Scope((Side("", flow.columns),)))
    return key, flow.key.changed(None if key.column is None else flow.columns[key.column].name)


def composed(text: Template, over: tuple[Template, ...]) -> Template:
    """An expression over what other expressions make."""
    pieces: list[str | int] = []
    for piece in text.pieces:
        if isinstance(piece, int) and piece >= 0:
            inner = over[piece]
            pieces += inner.pieces if inner.column is not None else ("(", *inner.pieces, ")")
        else:
            pieces.append(piece)
    return Template(tuple(pieces))


def _declared(text: str | None) -> tuple[Column, ...]:
    with within("columns"):
        return canonical(parse_columns(text)) if text else ()


def _after_python(flow: Flow, each: bool) -> Key:
    """Nobody knows what a function does to columns; where it gives a row for each, that row keeps its key."""
    return Key(None, None, each and flow.key.together)


def _told(given: tuple[Column, ...]) -> str:
    return "(" + ", ".join(f"{c.name} {c.type}" for c in given) + ")"
