"""A user's function over whole batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.operators.operation_executor import OperationRunner, StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.required_values import without_tombstones
from streamapp_runtime.operators.user_code.declared_columns import to_declared_columns
from streamapp_runtime.operators.user_code.user_batch import named_batch, require_key, user_rows
from streamapp_runtime.operators.user_code.user_code_loader import (
    UserCodeError,
    load_user_code,
    user_code_guard,
)
from streamapp_runtime.operators.user_code.user_operations import PythonMap
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task

BatchFunction = Callable[[pa.RecordBatch], object]


@dataclass(frozen=True, slots=True)
class PythonMapExecutor(StatelessExecutor):
    """Runs PythonMap: the function takes the declared columns of its source and gives those declared for it.

    For `each` row it gives one, in the same order. Else it gives any number, and may say in a column `__row`
    which row each was made of (see `made_of`). Tombstones have no columns: they pass by the function.
    """

    operation: PythonMap
    function: BatchFunction
    schema: pa.Schema
    output_schema: pa.Schema

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """What the function makes of the rows."""
        (rows,) = slices
        mapped = self._each if self.operation.each else self._any_number
        return concat_slices([mapped(part) for _, part in slices_by_task(rows)])

    def _each(self, rows: Slice) -> Slice:
        present = without_tombstones(rows)
        fit = (
            to_declared_columns(self._called(present), self.output_schema, self.operation.python)
            if len(present)
            else None
        )
        if fit is not None and fit.num_rows != len(present):
            raise UserCodeError(
                self.operation.python,
                f"gave {fit.num_rows} rows for {len(present)}",
                "a map gives one row for each; use a flatMap for any other number",
            )
        if fit is None:
            return rows.with_columns(self._nulls(len(rows)))
        if len(present) == len(rows):
            return rows.with_columns(fit.columns)
        is_present = ~np.asarray(rows.tombstone)
        places = pa.array(np.cumsum(is_present) - 1, mask=~is_present)
        return rows.with_columns(column.take(places) for column in fit.columns)

    def _any_number(self, rows: Slice) -> Slice:
        tombstone = np.asarray(rows.tombstone)
        passing = rows.take(pa.array(np.flatnonzero(tombstone)))
        passing = passing.with_columns(self._nulls(len(passing)))
        present = without_tombstones(rows)
        if not len(present):
            return passing
        called = self._called(present)
        if self.operation.keyed:
            require_key(called, self.operation.python)
        mapped = user_rows(present, called, self.output_schema, self.operation.python)
        if not len(passing):
            return mapped.rows
        # A tombstone stays behind what was made of the rows before it, and before the rest.
        origin = np.flatnonzero(~tombstone)[mapped.origin]
        order = np.argsort(np.concatenate([origin, np.flatnonzero(tombstone)]), kind="stable")
        both = concat_slices([mapped.rows, passing])
        return passing if both is None else both.take(pa.array(order))

    def _called(self, rows: Slice) -> object:
        with user_code_guard(self.operation.python, "failed"):
            return self.function(named_batch(rows, self.schema))

    def _nulls(self, count: int) -> list[pa.Array]:
        return [pa.nulls(count, field.type) for field in self.output_schema]


def _executor(
    operation: PythonMap, schemas: Sequence[pa.Schema], output_schema: pa.Schema
) -> PythonMapExecutor:
    (columns,) = schemas
    return PythonMapExecutor(operation, load_user_code(operation.python), columns, output_schema)


PYTHON_MAP_RUNNER = OperationRunner(executor=_executor, state_form=None)
