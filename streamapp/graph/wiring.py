"""The edges of the graph: operators, tables and streams as numbers, so that every walk is a loop over lists.

Numbers follow the sorted names, not the declaration, so that nothing built on them depends on its order.
A name that nothing declares is passed over: saying so is the planner's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.spec.resource.operator_kinds import StreamUse


@dataclass(frozen=True, slots=True)
class Wiring:
    """The graph with numbers for names; vertices are the operators and after them the partitioned tables."""

    operators: tuple[str, ...]
    tables: tuple[str, ...]
    streams: tuple[str, ...]  # those of which a task reads a part: all but the broadcast ones
    before: Sequence[Sequence[int]]  # vertex -> vertices whose rows reach it in the same task
    reads: Sequence[Sequence[int]]  # vertex -> streams it reads itself

    def name(self, vertex: int) -> str:
        """The operator's or table's name."""
        count = len(self.operators)
        return self.operators[vertex] if vertex < count else self.tables[vertex - count]


def wire(graph: Graph) -> Wiring:
    """Number an app's operators, tables and streams and connect them.

    A write to a local table reaches every reader of that table, though none names the writer as its input:
    the table stands between them as a vertex. What follows a partitionBy or broadcast reads the stream made.
    """
    operators = tuple(sorted(graph.operators))
    tables = tuple(sorted(name for name, table in graph.tables.items() if table.partitioned))
    streams = _partitioned_streams(graph)
    vertex_of = {name: number for number, name in enumerate(operators)}
    table_of = {name: number for number, name in enumerate(tables, start=len(operators))}
    stream_of = {name: number for number, name in enumerate(streams)}

    before: list[list[int]] = [[] for _ in range(len(operators) + len(tables))]
    reads: list[list[int]] = [[] for _ in before]
    for vertex, name in enumerate(operators):
        operator = graph.operators[name]
        reads[vertex] = [stream_of[stream] for stream in streams_read(graph, operator) if stream in stream_of]
        before[vertex] = [vertex_of[producer.name] for producer in direct_producers(graph, operator)]
        for table in operator.tables:
            if table not in table_of:
                continue
            if operator.traits.reads_tables:
                before[vertex].append(table_of[table])
            if operator.traits.writes_tables:
                before[table_of[table]].append(vertex)
    return Wiring(operators, tables, streams, before, reads)


def streams_read(graph: Graph, operator: OperatorNode) -> Iterator[str]:
    """The streams whose records an operator is given: an input's own, and those that partitionBys made."""
    if operator.is_input and operator.stream is not None:
        yield operator.stream
    for name in operator.inputs:
        producer = graph.operators.get(name)
        if producer is not None and producer.cuts and producer.stream is not None:
            yield producer.stream


def direct_producers(graph: Graph, operator: OperatorNode) -> Iterator[OperatorNode]:
    """The operators whose rows an operator is handed in the same task."""
    for name in operator.inputs:
        producer = graph.operators.get(name)
        if producer is not None and not producer.cuts:
            yield producer


def broadcast_streams(graph: Graph) -> set[str]:
    """The streams that every task reads whole, and that therefore constrain nothing."""
    broadcast = {name for name, stream in graph.streams.items() if stream.broadcast}
    for operator in graph.operators.values():
        if operator.traits.stream is StreamUse.BROADCASTS and operator.stream is not None:
            broadcast.add(operator.stream)
    return broadcast


def _partitioned_streams(graph: Graph) -> tuple[str, ...]:
    read = {name for table in graph.tables.values() for name in table.side_inputs}
    created_streams: set[str] = set()
    for operator in graph.operators.values():
        if operator.stream is None:
            continue
        if operator.is_input:
            read.add(operator.stream)
        elif operator.cuts:
            created_streams.add(operator.stream)
    return tuple(sorted(((read & graph.streams.keys()) | created_streams) - broadcast_streams(graph)))
