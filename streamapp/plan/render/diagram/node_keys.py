"""Keys of nodes: an input shares its stream's node, and readers of a partitionBy read its stream's node."""

from typing import NamedTuple

from streamapp.graph.nodes import Graph, OperatorNode


class NodeKey(NamedTuple):
    """A node's kind, and its name within that kind."""

    of: str  # stream, operator, table or missing
    name: str


def stream_key(name: str) -> NodeKey:
    """The node of a stream."""
    return NodeKey("stream", name)


def table_key(graph: Graph, name: str) -> NodeKey:
    """The node of a table that an operator names."""
    return NodeKey("table" if name in graph.tables else "missing", name)


def operator_key(operator: OperatorNode) -> NodeKey:
    """The node that stands for an operator."""
    if operator.is_input and operator.stream is not None:
        return stream_key(operator.stream)
    return NodeKey("operator", operator.name)


def output_key(graph: Graph, name: str) -> NodeKey:
    """The node from which an operator's rows are read."""
    operator = graph.operators.get(name)
    if operator is None:
        return NodeKey("missing", name)
    if operator.cuts and operator.stream is not None:
        return stream_key(operator.stream)
    return operator_key(operator)
