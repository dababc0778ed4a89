"""The elements of a diagram: nodes and edges with their texts. Free of places, colours and file formats."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
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


class Shape(StrEnum):
    """The kind of thing a node stands for, which decides its outline."""

    STREAM = "stream"
    INTERMEDIATE = "intermediate"
    OPERATOR = "operator"
    JOIN = "join"
    TABLE = "table"
    MISSING = "missing"  # a name without a declaration


class EdgeKind(StrEnum):
    """The kind of data that an edge carries."""

    ROWS = "rows"
    TABLE = "table"  # from a writing operator to a table, or from a table to a reading operator
    SIDE = "side"  # a side input into its table


class ErrorRole(StrEnum):
    """The role of a node in an error."""

    NONE = "none"
    INVOLVED = "involved"  # another stream of the same group has a different count
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Node:
    """A stream, an operator or a table; `shown` is its short name."""

    name: str
    shown: str
    shape: Shape
    kind: str
    badge: str
    description: str
    error_role: ErrorRole


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two nodes, by their numbers; `label` is the partition count of its rows."""

    source: int
    target: int
    kind: EdgeKind
    label: str
    failing: bool


@dataclass(frozen=True, slots=True)
class Diagram:
    """All nodes and edges, and for each join's number the numbers of the nodes in its group."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: Mapping[int, frozenset[int]]
