"""The operations of a Python worker for SQL that needs no Spark."""

from dataclasses import dataclass

from streamapp_runtime.expressions.row_value import RowValue
from streamapp_runtime.operators.operation import RowOperation


@dataclass(frozen=True, slots=True)
class SelectColumns(RowOperation):
    """Give rows on with other columns, as they are."""

    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeyRows(RowOperation):
    """Give rows on with other columns, as they are, under a key that is one of the columns before."""

    chosen: tuple[int, ...]
    key: int
    tombstones_keep_key: bool  # else they have none


@dataclass(frozen=True, slots=True)
class FilterRows(RowOperation):
    """Give on the rows for which a condition is true, as they are, and all tombstones."""

    where: RowValue


@dataclass(frozen=True, slots=True)
class ComputeColumns(RowOperation):
    """Give rows on with columns that are computed of theirs, and under another key where one is told.

    Rows for which `delete` is true are tombstones from here on.
    """

    values: tuple[RowValue, ...]
    key: RowValue | None = None  # the text or the bytes of it; None where rows keep their own
    tombstones_keep_key: bool = True
    delete: RowValue | None = None
