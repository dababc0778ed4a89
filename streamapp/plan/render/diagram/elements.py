"""What is drawn of an app: nodes and edges with what they say. Free of places, colours and file formats."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Shape(StrEnum):
    """What a node stands for, and so its outline."""

    STREAM = "stream"
    INTERMEDIATE = "intermediate"
    OPERATOR = "operator"
    JOIN = "join"
    TABLE = "table"
    MISSING = "missing"  # a name that leads nowhere


class EdgeKind(StrEnum):
    """What an edge carries."""

    ROWS = "rows"
    TABLE = "table"  # half of a virtual edge: into a table from what writes it, or out to what reads it
    SIDE = "side"  # a side input into its table


class ErrorRole(StrEnum):
    """How much a node has to do with what is wrong."""

    NONE = "none"
    INVOLVED = "involved"  # its count is as good as any, but another's in the same group differs
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Node:
    """A stream, an operator or a table; `shown` is its name where there is little room."""

    name: str
    shown: str
    shape: Shape
    kind: str
    badge: str
    says: str
    trouble: ErrorRole


@dataclass(frozen=True, slots=True)
class Edge:
    """From one node to another, by their numbers; `label` is the count of the rows it carries."""

    source: int
    target: int
    flow: EdgeKind
    label: str
    failing: bool


@dataclass(frozen=True, slots=True)
class Diagram:
    """All nodes and edges, and for each join's number the numbers of what belongs to its group."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: Mapping[int, frozenset[int]]
