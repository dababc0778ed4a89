"""Apps drawn in a few words, for tests of groups and plans."""

from collections.abc import Mapping

from streamapp.graph.nodes import Graph, Kind, Operator, Stream, Table


def reads(stream: str, name: str | None = None) -> Operator:
    return Operator(name or stream, Kind.INPUT, stream=stream)


def maps(name: str, source: str) -> Operator:
    return Operator(name, Kind.MAP, (source,))


def merge(name: str, *sources: str) -> Operator:
    return Operator(name, Kind.MERGE, sources)


def repartition(
    name: str, *sources: str, partitions: int | None = None, stream: str | None = None
) -> Operator:
    """Without a stream named, the stream is called like the operator with a mark behind it."""
    return Operator(name, Kind.PARTITION_BY, sources, stream or f"{name}'", partitions=partitions)


def broadcast(name: str, source: str) -> Operator:
    return Operator(name, Kind.BROADCAST, (source,), f"{name}'")


def join(name: str, *sources: str) -> Operator:
    return Operator(name, Kind.JOIN, sources)


def join_table(name: str, source: str, table: str) -> Operator:
    return Operator(name, Kind.JOIN_TABLE, (source,), tables=(table,))


def fill(name: str, source: str, table: str) -> Operator:
    return Operator(name, Kind.SEND_TO_TABLE, (source,), tables=(table,))


def aggregate(name: str, source: str) -> Operator:
    return Operator(name, Kind.AGGREGATE, (source,))


def process(name: str, source: str, *tables: str) -> Operator:
    return Operator(name, Kind.PROCESS, (source,), tables=tables)


def sends(name: str, source: str, stream: str) -> Operator:
    return Operator(name, Kind.SEND_TO, (source,), stream)


def drawn(
    *operators: Operator, counts: Mapping[str, int | None] | None = None, tables: tuple[Table, ...] = ()
) -> Graph:
    """A graph; streams that are only named exist with eight partitions."""
    made = {operator.stream for operator in operators if operator.cuts}
    named = {operator.stream for operator in operators if operator.stream is not None} - made
    named |= {side for table in tables for side in table.side_inputs} - made
    known = dict.fromkeys(named, 8) | dict(counts or {})
    return Graph(
        {operator.name: operator for operator in operators},
        {name: Stream(name, "main", count) for name, count in known.items() if name},
        {table.name: table for table in tables},
    )
