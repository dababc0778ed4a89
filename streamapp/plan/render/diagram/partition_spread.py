"""Over how many partitions rows are spread on their way through the graph: the counts on edges."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamapp.graph.components import strong_components
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.partition_plan import Plan

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Spread:
    """The counts of the streams that rows come from; those of broadcast streams apart."""

    counts: frozenset[int | None] = frozenset()
    whole: frozenset[int | None] = frozenset()

    def __or__(self, other: "Spread") -> "Spread":
        return Spread(self.counts | other.counts, self.whole | other.whole)

    @property
    def label(self) -> str:
        """The counts in few letters: `8`, `6 | 8`, `all 4` of a broadcast stream, `?` unknown."""
        if not self.counts:
            return f"all {_listed(self.whole)}" if self.whole else ""
        return _listed(self.counts)


NO_SPREAD = Spread()


@dataclass(frozen=True, slots=True)
class Spreads:
    """The spread of every stream's, operator's and table's rows, by name."""

    streams: Mapping[str, Spread]
    operators: Mapping[str, Spread]
    tables: Mapping[str, Spread]


def partition_spreads(graph: Graph, plan: Plan) -> Spreads:
    """Follow the rows from the streams through the operators and into the tables."""
    streams = {
        name: Spread(whole=frozenset({stream.partitions}))
        if stream.broadcast
        else Spread(counts=frozenset({stream.partitions}))
        for name, stream in plan.streams.items()
    }
    operators = _operators(graph, streams)
    tables = {}
    for name, table in graph.tables.items():
        sides = [streams.get(side, NO_SPREAD) for side in table.side_inputs]
        writers = [
            operators[operator.name] for operator in graph.operators.values() if writes_table(operator, name)
        ]
        filled = _union([*sides, *writers])
        tables[name] = filled if table.partitioned else Spread(whole=filled.counts | filled.whole)
    return Spreads(streams, operators, tables)


def reads_table(operator: OperatorNode, table: str) -> bool:
    """Whether an operator looks rows up in a table."""
    return table in operator.tables and operator.traits.reads_tables


def writes_table(operator: OperatorNode, table: str) -> bool:
    """Whether an operator puts rows into a table."""
    return table in operator.tables and operator.traits.writes_tables


def _operators(graph: Graph, streams: Mapping[str, Spread]) -> dict[str, Spread]:
    names = sorted(graph.operators)
    vertex_of = {name: vertex for vertex, name in enumerate(names)}
    before = [
        [vertex_of[name] for name in graph.operators[reader].inputs if name in vertex_of] for reader in names
    ]
    of: dict[str, Spread] = {}
    # What a partitionBy hands on is its stream's, yet its own line shows what it is given.
    for part in strong_components(before):
        given = [
            _handed_on(graph.operators[names[earlier]], of, streams)
            for vertex in part
            for earlier in before[vertex]
        ]
        own = [streams.get(_reads(graph.operators[names[vertex]]), NO_SPREAD) for vertex in part]
        for vertex in part:
            of[names[vertex]] = _union([*given, *own])
    return of


def _handed_on(operator: OperatorNode, of: Mapping[str, Spread], streams: Mapping[str, Spread]) -> Spread:
    if operator.cuts and operator.stream is not None:
        return streams.get(operator.stream, NO_SPREAD)
    return of.get(operator.name, NO_SPREAD)


def _reads(operator: OperatorNode) -> str:
    return operator.stream or "" if operator.is_input else ""


def _union(spreads: Iterable[Spread]) -> Spread:
    union = NO_SPREAD
    for spread in spreads:
        union |= spread
    return union


def _listed(counts: Iterable[int | None]) -> str:
    shown = [
        str(count) if count is not None else "?" for count in sorted(counts, key=lambda count: count or 0)
    ]
    return " | ".join(shown if len(shown) <= _SHOWN else [*shown[: _SHOWN - 1], "…"])
