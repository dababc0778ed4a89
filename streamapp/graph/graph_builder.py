"""From an app to its graph: streams become inputs, operators vertices, repartitions named streams."""

from collections.abc import Iterator, Mapping
from typing import Any

from streamapp.graph.nodes import Graph, OperatorKind, OperatorNode, StreamNode, TableNode
from streamapp.spec.resource.app import StreamApp


def build_graph(app: StreamApp, counts: Mapping[str, int | None]) -> Graph:
    """The graph of a parsed app; `counts` are the partition counts known, by stream name."""
    whole = {name for name in app.spec.broadcast_inputs if "#" not in name}
    streams = {
        stream.name: StreamNode(stream.name, stream.system, counts.get(stream.name), stream.name in whole)
        for stream in app.spec.streams
    }
    tables = {
        table.name: TableNode(
            table.name,
            table.remote is not None,
            table.broadcast,
            tuple(side.stream for side in table.side_inputs),
        )
        for table in app.spec.tables
    }
    operators = {operator.name: operator for operator in _operators(app)}
    for operator in operators.values():
        made = operator.stream if operator.cuts else None
        if made is not None and made not in streams and counts.get(made) is not None:
            streams[made] = StreamNode(made, partitions=counts[made])  # it is there already, and its records
    return Graph(operators, streams, tables)


def _operators(app: StreamApp) -> Iterator[OperatorNode]:
    bodies: list[tuple[str, OperatorKind, Any]] = [
        (o.name, OperatorKind(o.kind), o.body) for o in app.spec.operators
    ]
    read = {name for _, _, body in bodies for name in _sources(body)}
    for stream in app.spec.streams:
        if stream.name in read:
            yield OperatorNode(stream.name, OperatorKind.INPUT, stream=stream.name)
    for name, kind, body in bodies:
        writes = body.stream if kind is OperatorKind.SEND_TO else None
        if kind in {OperatorKind.PARTITION_BY, OperatorKind.BROADCAST}:
            writes = app.intermediate_stream(name)
        tables = (
            (body.table,)
            if kind in {OperatorKind.JOIN_TABLE, OperatorKind.SEND_TO_TABLE}
            else getattr(body, "tables", ())
        )
        yield OperatorNode(name, kind, _sources(body), writes, tables, getattr(body, "partitions", None))


def _sources(body: Any) -> tuple[str, ...]:
    return (body.source,) if isinstance(body.source, str) else body.source
