"""The program: what every lane does in every micro-batch. A frozen value that can be pickled and shown."""

from dataclasses import dataclass, replace

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.sql_types import column_list
from streamapp_runtime.operators.compilation.piece import Piece
from streamapp_runtime.operators.operation import Operation

CHANGELOG_TAG = -1
"""The tag of a table's changelog entries on their way to the write layer."""
REPORT_TAG = -2
"""The tag of what workers report: JSON in the first string register."""


@dataclass(frozen=True, slots=True)
class RowEdge:
    """Rows on their way from one part to another; register n holds column n."""

    tag: int
    producer: str
    consumer: str
    columns: tuple[Column, ...]
    registers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacedOperation:
    """An operation in its place: what it reads, and where its rows go, once for each of those edges."""

    name: str
    operation: Operation
    sources: tuple[RowEdge, ...]
    outputs: tuple[RowEdge, ...]


@dataclass(frozen=True, slots=True)
class SqlStep:
    """One pass of Spark SQL over all rows: filter, explode, project, fan out, in this order.

    Expressions are over the registers; what a tag has no part in passes as it is.
    """

    pieces: tuple[str, ...]  # the parts of operators that it does, for people
    where: str | None
    explode: tuple[tuple[str, str, str], ...]  # generator, name of the place, name of the element
    project: tuple[tuple[str, str], ...]  # register, expression; other registers stay
    fan_out: tuple[tuple[int, tuple[int, ...]], ...]  # rows of a tag go on under each of these


@dataclass(frozen=True, slots=True)
class PythonLayer:
    """Operations of one Python worker, in the order in which they run."""

    tasks: tuple[PlacedOperation, ...]


@dataclass(frozen=True, slots=True)
class SqlLayer:
    """Steps of Spark SQL between two Python workers."""

    steps: tuple[SqlStep, ...]


Layer = PythonLayer | SqlLayer


@dataclass(frozen=True, slots=True)
class TableColumns:
    """A table and the columns of its rows."""

    name: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """Everything that lanes are built from.

    Layers alternate, Python first and last: the first reads, the last writes. Where nothing is computed in
    between they are one.
    """

    layers: tuple[Layer, ...]
    edges: tuple[RowEdge, ...]
    registers: tuple[Column, ...]  # the wide row, its fixed columns first
    tables: tuple[TableColumns, ...]
    pieces: tuple[Piece, ...] = ()  # what it was made of, where columns have places and no registers yet

    @property
    def for_workers(self) -> "Program":
        """The program without what no worker needs."""
        return replace(self, pieces=())

    @property
    def schema(self) -> str:
        """The wide row as a Spark SQL column list."""
        return column_list(self.registers)

    @property
    def python_tasks(self) -> tuple[PlacedOperation, ...]:
        """The operations of all Python layers, in order."""
        return tuple(task for layer in self.layers if isinstance(layer, PythonLayer) for task in layer.tasks)

    @property
    def is_all_python(self) -> bool:
        """True if one worker does everything, and Spark computes nothing."""
        return len(self.layers) == 1

    @property
    def computed_by_spark(self) -> tuple[str, ...]:
        """The parts of operators that are left to Spark, in order."""
        steps = (step for layer in self.layers if isinstance(layer, SqlLayer) for step in layer.steps)
        return tuple(dict.fromkeys(piece for step in steps for piece in step.pieces))
