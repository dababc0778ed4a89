"""The operations on single rows: those of a worker, and those whose expressions Spark evaluates."""

from dataclasses import dataclass
from typing import ClassVar, Final

from streamapp_runtime.expressions.expression_client import SparkExpressions
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


RECORD_KEY_PLACE: Final = -2
"""The position of a row's own key, beside `BATCH_TIME`, among what expressions read."""


@dataclass(frozen=True, slots=True)
class ExplodeRows:
    """The making of many rows of one: a row for each element of an array, which its expressions make."""

    expressions: SparkExpressions
    places: bool  # the element's place is a value of the row, before the element
    fields: int  # of the element, each a value; 0 where it is one itself
    outer: bool  # an array that is empty or null gives one row of nulls


@dataclass(frozen=True, slots=True)
class EvaluateRows(RowOperation):
    """Keep, change and key rows by expressions that Spark evaluates in the JVM of the executor.

    Positions count through the columns, then through what `explode` adds, then through what is evaluated. A
    tombstone is not evaluated and passes. Rows for which `delete` is true are tombstones from here on.
    """

    runs_unread: ClassVar[bool] = False

    chosen: tuple[int, ...]
    expressions: SparkExpressions | None
    explode: ExplodeRows | None = None
    key: int | None = None  # its bytes; None where rows keep their own
    tombstones_keep_key: bool = True
    key_of_tombstone: SparkExpressions | None = None
    delete: int | None = None

    @property
    def programs(self) -> tuple[SparkExpressions, ...]:
        """All expressions that it has evaluated."""
        explode = self.explode and self.explode.expressions
        return tuple(each for each in (explode, self.expressions, self.key_of_tombstone) if each)
