"""The parts that operators are compiled to, before they are given tags and an order."""

from dataclasses import dataclass, field, replace
from typing import Final

from streamapp.columns.row_key import RowKey
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.generators import Generator
from streamapp_runtime.expressions.row_value import WHOLE_TYPES, Cast, ColumnValue, RowValue
from streamapp_runtime.expressions.template import Template, all_columns
from streamapp_runtime.operators.compilation.row_operations import (
    ComputeColumns,
    FilterRows,
    KeyRows,
    SelectColumns,
)
from streamapp_runtime.operators.operation import Operation

ARROW_KEY_TYPES: Final = frozenset({"STRING", "BINARY", *WHOLE_TYPES, "BOOLEAN"})
"""The types of columns that are keys without an expression."""


@dataclass(frozen=True, slots=True)
class SqlPart:
    """Spark SQL over its sources: keep the rows where `where` holds, then compute columns and key.

    `outputs` has a position for each column of the source; `delete` makes tombstones of rows. `judgeable` is
    `where` as a Python worker can judge it, if it can, and `key_value` the text of the key as it can make it.
    """

    outputs: tuple[Template, ...]
    where: Template | None = None
    key: Template | None = None
    tombstones_keep_key: bool = True
    key_of_tombstone: Template | None = None  # over no column, for tombstones have none
    delete: Template | None = None
    generator: Generator | None = None
    judgeable: RowValue | None = None
    key_value: RowValue | None = None

    @property
    def in_python(self) -> SelectColumns | KeyRows | FilterRows | ComputeColumns | None:
        """The same for a Python worker; None where only Spark SQL can do it."""
        if self.generator or self.key_of_tombstone:
            return None
        if self.delete or not all_columns(self.outputs):
            return self._computed()
        chosen = tuple(c for c in (t.column for t in self.outputs) if c is not None)
        if self.key is not None:
            column = self.key.column if _is_column(self.key_value) and self.where is None else None
            return self._computed() if column is None else KeyRows(chosen, column, self.tombstones_keep_key)
        if self.where is None:
            return SelectColumns(chosen)
        keeps_all = chosen == tuple(range(len(chosen)))
        return FilterRows(self.judgeable) if self.judgeable is not None and keeps_all else None

    def _computed(self) -> ComputeColumns | None:
        values = tuple(v for v in (output.in_python for output in self.outputs) if v is not None)
        if len(values) < len(self.outputs) or self.where is not None:
            return None
        if self.key is not None and self.key_value is None:
            return None
        delete = None if self.delete is None else self.delete.in_python
        if self.delete is not None and delete is None:
            return None
        return ComputeColumns(values, self.key_value, self.tombstones_keep_key, delete)


def _is_column(key_value: RowValue | None) -> bool:
    """True if a key is a column whose values Arrow writes as a text with the same bytes as Spark."""
    match key_value:
        case ColumnValue():
            return True
        case Cast(ColumnValue(), source, _):
            return source in ARROW_KEY_TYPES
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Piece:
    """One part: its name is the operator's, with a word behind it where an operator has several."""

    name: str
    operator: str
    sources: tuple[str, ...]  # names of pieces, in order
    work: SqlPart | Operation
    columns: tuple[Column, ...]  # of what it puts out
    filters: tuple[str, ...] = ()  # the pieces that it has become one with


@dataclass(frozen=True, slots=True)
class RowFlow:
    """Rows as an operator hands them on: from which piece, with which columns and key."""

    piece: str
    columns: tuple[Column, ...]
    key: RowKey


@dataclass(frozen=True, slots=True)
class CompiledOperator:
    """The pieces of one compiled operator, and its rows where it has any."""

    pieces: tuple[Piece, ...]
    flow: RowFlow | None = None


@dataclass(frozen=True, slots=True)
class PieceChain:
    """Pieces in a row, each reading the one before."""

    operator: str
    flow: RowFlow
    pieces: tuple[Piece, ...] = field(default=())

    def then(
        self, suffix: str, work: SqlPart | Operation, columns: tuple[Column, ...], key: RowKey
    ) -> "PieceChain":
        """Add a piece that reads the last one; a choice of all columns in their order is left out."""
        name = f"{self.operator}/{suffix}" if suffix else self.operator
        piece = Piece(name, self.operator, (self.flow.piece,), work, columns)
        return replace(self, flow=RowFlow(name, columns, key), pieces=(*self.pieces, piece))

    def done(self) -> CompiledOperator:
        """The operator, with rows."""
        return CompiledOperator(self.pieces, self.flow)

    def ended(self) -> CompiledOperator:
        """The operator, of which nothing is read."""
        return CompiledOperator(self.pieces)
