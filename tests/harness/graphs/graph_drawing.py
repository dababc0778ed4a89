"""Apps drawn in a few words, for tests of groups and plans."""

from collections.abc import Mapping

from streamapp.graph.nodes import Graph, OperatorNode, StreamNode, TableNode
from streamapp.spec.resource.operator_kinds import OperatorKind


def reads(stream: str, name: str | None = None) -> OperatorNode:
    return OperatorNode(name or stream, OperatorKind.INPUT, stream=stream)


def maps(name: str, source: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.MAP, (source,))


def merge(name: str, *sources: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.MERGE, sources)


def repartition(
    name: str, *sources: str, partitions: int | None = None, stream: str | None = None
) -> OperatorNode:
    """Without a stream named, the stream is called like the operator with a mark behind it."""
    return OperatorNode(name, OperatorKind.PARTITION_BY, sources, stream or f"{name}'", partitions=partitions)


def broadcast(name: str, source: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.BROADCAST, (source,), f"{name}'")


def join(name: str, *sources: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.JOIN, sources)


def join_table(name: str, source: str, table: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.JOIN_TABLE, (source,), tables=(table,))


def fill(name: str, source: str, table: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.SEND_TO_TABLE, (source,), tables=(table,))


def aggregate(name: str, source: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.AGGREGATE, (source,))


def process(name: str, source: str, *tables: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.PROCESS, (source,), tables=tables)


def sends(name: str, source: str, stream: str) -> OperatorNode:
    return OperatorNode(name, OperatorKind.SEND_TO, (source,), stream)


def drawn(
    *operators: OperatorNode,
    counts: Mapping[str, int | None] | None = None,
    tables: tuple[TableNode, ...] = (),
) -> Graph:
    """A graph; streams that are only named exist with eight partitions."""
    made = {operator.stream for operator in operators if operator.cuts}
    named = {operator.stream for operator in operators if operator.stream is not None} - made
    named |= {side for table in tables for side in table.side_inputs} - made
    known = dict.fromkeys(named, 8) | dict(counts or {})
    return Graph(
        {operator.name: operator for operator in operators},
        {name: StreamNode(name, "main", count) for name, count in known.items() if name},
        {table.name: table for table in tables},
    )
