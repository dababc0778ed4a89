"""From an app to its graph: streams become inputs, operators vertices, repartitions named streams."""

from collections.abc import Iterator, Mapping

from streamapp.graph.nodes import Graph, OperatorNode, StreamNode, TableNode
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import OperatorKind, traits_of


def build_graph(
    app: StreamApp, counts: Mapping[str, int | None], counted_by: Mapping[str, str] | None = None
) -> Graph:
    """The graph of a parsed app; `counts` are the partition counts known, by stream name.

    `counted_by` says what a count comes from, where it does not come from the stream's system.
    """
    sources = counted_by or {}
    whole = {name for name in app.spec.broadcast_inputs if "#" not in name}
    streams = {
        stream.name: StreamNode(
            stream.name,
            stream.system,
            counts.get(stream.name),
            stream.name in whole,
            sources.get(stream.name, ""),
        )
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
        created_stream = operator.stream if operator.cuts else None
        if (
            created_stream is not None
            and created_stream not in streams
            and counts.get(created_stream) is not None
        ):
            streams[created_stream] = StreamNode(
                created_stream, partitions=counts[created_stream]
            )  # it is there already, and its records
    return Graph(operators, streams, tables)


def _operators(app: StreamApp) -> Iterator[OperatorNode]:
    read = {name for operator in app.spec.operators for name in operator.sources}
    for stream in app.spec.streams:
        if stream.name in read:
            yield OperatorNode(stream.name, OperatorKind.INPUT, stream=stream.name)
    for operator in app.spec.operators:
        makes = traits_of(operator).makes_stream
        stream_name = app.intermediate_stream(operator.name) if makes else operator.stream
        kind = OperatorKind(operator.kind)
        yield OperatorNode(
            operator.name, kind, operator.sources, stream_name, operator.tables, operator.partitions
        )
