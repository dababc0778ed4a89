"""The evaluation of a value for whole columns: the columns, and the rows that failed so far."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.expressions.row_value import RowValue, may_fail
from streamapp_runtime.operators.stateless.value_order import EvaluatedValue


class RowEvaluation(ABC):
    """The columns of some rows, and why rows of them failed."""

    def __init__(self, columns: Sequence[pa.Array], rows: int) -> None:
        """Nothing has failed yet."""
        self.columns, self.rows = columns, rows
        self.failures: dict[int, str] = {}

    def array(self, result: EvaluatedValue, kind: pa.DataType) -> pa.Array:
        """A column of a type; a scalar is the value of each row."""
        if isinstance(result, pa.Scalar):
            return pa.repeat(result.cast(kind), self.rows)
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        return result if result.type == kind else result.cast(kind)

    @abstractmethod
    def computed(self, value: RowValue, needed: np.ndarray) -> EvaluatedValue:
        """A value; a failure of rows for which Spark would not compute it is none."""

    def operands(self, values: Iterable[RowValue], needed: np.ndarray) -> Iterator[EvaluatedValue]:
        """Values that are computed for the same rows."""
        return (self.computed(value, needed) for value in values)

    def in_turn(self, values: Iterable[RowValue], needed: np.ndarray) -> list[EvaluatedValue]:
        """Values of which Spark computes none behind one that is null."""
        computed: list[EvaluatedValue] = []
        for value in values:
            if may_fail(value):
                for before in computed:
                    needed = needed & np.asarray(self.array(pc.is_valid(before), pa.bool_()))
            computed.append(self.computed(value, needed))
        return computed

    def fitting(
        self,
        values: Sequence[int | None],
        kind: pa.DataType,
        needed: np.ndarray,
        reason: Callable[[int], str],
    ) -> pa.Array:
        """Whole numbers as a type; those that have no place in it are null, and failed where needed."""
        most = 2 ** (kind.bit_width - 1) - 1
        outside = np.array([number is not None and not -most - 1 <= number <= most for number in values])
        self.fail(outside & needed, lambda row: reason(values[row] or 0))
        return pa.array([None if out else number for number, out in zip(values, outside, strict=True)], kind)

    def fail(self, rows: np.ndarray, reason: Callable[[int], str]) -> None:
        """Note why rows failed, where nothing was noted before."""
        for row in np.flatnonzero(rows).tolist():
            self.failures.setdefault(row, reason(row))
