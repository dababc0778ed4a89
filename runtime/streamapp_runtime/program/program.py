"""The program: what every lane does in every micro-batch. A frozen value that can be pickled and shown."""

from dataclasses import dataclass, replace

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.operators.compilation.piece import Piece
from streamapp_runtime.operators.operation import Operation


@dataclass(frozen=True, slots=True)
class RowEdge:
    """Rows on their way from one part to another."""

    tag: int
    producer: str
    consumer: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class PlacedOperation:
    """An operation in its place: what it reads, and where its rows go, once for each of those edges."""

    name: str
    operation: Operation
    sources: tuple[RowEdge, ...]
    outputs: tuple[RowEdge, ...]


@dataclass(frozen=True, slots=True)
class TableColumns:
    """A table and the columns of its rows."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """Everything that lanes are built from."""

    tasks: tuple[PlacedOperation, ...]  # in the order in which they run
    edges: tuple[RowEdge, ...]
    tables: tuple[TableColumns, ...]
    pieces: tuple[Piece, ...] = ()  # what it was made of

    @property
    def for_workers(self) -> "Program":
        """The program without what no worker needs."""
        return replace(self, pieces=())
