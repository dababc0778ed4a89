"""The number of partitions over which rows are spread, at each point of the graph: the counts on edges."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamapp.graph.components import strong_components
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.partition_plan import Plan

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Spread:
    """The partition counts of the streams that rows come from, and separately those of broadcast streams."""

    counts: frozenset[int | None] = frozenset()
    whole: frozenset[int | None] = frozenset()

    def __or__(self, other: "Spread") -> "Spread":
        return Spread(self.counts | other.counts, self.whole | other.whole)

    @property
    def label(self) -> str:
        """The counts as a short text: `8`, `6 | 8`, `all 4` of a broadcast stream, `?` unknown."""
        if not self.counts:
            return f"all {_counts_text(self.whole)}" if self.whole else ""
        return _counts_text(self.counts)


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
        side_inputs = [streams.get(side_input, NO_SPREAD) for side_input in table.side_inputs]
        writers = [
            operators[operator.name] for operator in graph.operators.values() if writes_table(operator, name)
        ]
        union = _union([*side_inputs, *writers])
        tables[name] = union if table.partitioned else Spread(whole=union.counts | union.whole)
    return Spreads(streams, operators, tables)


def reads_table(operator: OperatorNode, table: str) -> bool:
    """True if an operator looks rows up in a table."""
    return table in operator.tables and operator.traits.reads_tables


def writes_table(operator: OperatorNode, table: str) -> bool:
    """True if an operator puts rows into a table."""
    return table in operator.tables and operator.traits.writes_tables


def _operators(graph: Graph, streams: Mapping[str, Spread]) -> dict[str, Spread]:
    names = sorted(graph.operators)
    vertex_of = {name: vertex for vertex, name in enumerate(names)}
    inputs_of = [
        [vertex_of[name] for name in graph.operators[reader].inputs if name in vertex_of] for reader in names
    ]
    spread_of: dict[str, Spread] = {}
    # A partitionBy passes on its stream's spread, yet its own line shows the spread of its input.
    for component in strong_components(inputs_of):
        input_spreads = [
            _output_spread(graph.operators[names[input_vertex]], spread_of, streams)
            for vertex in component
            for input_vertex in inputs_of[vertex]
        ]
        stream_spreads = [
            streams.get(_input_stream(graph.operators[names[vertex]]), NO_SPREAD) for vertex in component
        ]
        for vertex in component:
            spread_of[names[vertex]] = _union([*input_spreads, *stream_spreads])
    return spread_of


def _output_spread(
    operator: OperatorNode, spread_of: Mapping[str, Spread], streams: Mapping[str, Spread]
) -> Spread:
    if operator.cuts and operator.stream is not None:
        return streams.get(operator.stream, NO_SPREAD)
    return spread_of.get(operator.name, NO_SPREAD)


def _input_stream(operator: OperatorNode) -> str:
    return operator.stream or "" if operator.is_input else ""


def _union(spreads: Iterable[Spread]) -> Spread:
    union = NO_SPREAD
    for spread in spreads:
        union |= spread
    return union


def _counts_text(counts: Iterable[int | None]) -> str:
    shown = [
        str(count) if count is not None else "?" for count in sorted(counts, key=lambda count: count or 0)
    ]
    return " | ".join(shown if len(shown) <= _SHOWN else [*shown[: _SHOWN - 1], "…"])
