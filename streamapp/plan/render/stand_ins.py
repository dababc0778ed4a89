"""Which node stands for what: an input is its stream, what reads a partitionBy reads the stream it makes."""

from typing import NamedTuple

from streamapp.graph.nodes import Graph, Kind, Operator


class Key(NamedTuple):
    """A node's name among those of its kind."""

    of: str  # stream, operator, table or missing
    name: str


def stream_key(name: str) -> Key:
    """The node of a stream."""
    return Key("stream", name)


def table_key(graph: Graph, name: str) -> Key:
    """The node of a table that an operator names."""
    return Key("table" if name in graph.tables else "missing", name)


def operator_key(operator: Operator) -> Key:
    """The node that stands for an operator."""
    if operator.kind is Kind.INPUT and operator.stream is not None:
        return stream_key(operator.stream)
    return Key("operator", operator.name)


def output_key(graph: Graph, name: str) -> Key:
    """The node from which an operator's rows are read."""
    operator = graph.operators.get(name)
    if operator is None:
        return Key("missing", name)
    if operator.cuts and operator.stream is not None:
        return stream_key(operator.stream)
    return operator_key(operator)
