"""A user's function over whole batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.operators.operation_executor import OperationRunner, StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState, RejectedRow
from streamapp_runtime.operators.state.required_values import without_tombstones
from streamapp_runtime.operators.user_code.declared_columns import to_declared_columns
from streamapp_runtime.operators.user_code.user_batch import UserRows, named_batch, require_key, user_rows
from streamapp_runtime.operators.user_code.user_code_loader import (
    UserCodeError,
    load_user_code,
    user_code_guard,
)
from streamapp_runtime.operators.user_code.user_operations import PythonMap
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task

BatchFunction = Callable[[pa.RecordBatch], object]

_MEND = (
    "give each row the key by which the stream is partitioned, fill the table from a stream that is "
    "partitioned by this key, or make the table broadcast"
)


@dataclass(frozen=True, slots=True)
class PythonMapExecutor(StatelessExecutor):
    """Runs PythonMap: the function takes the declared columns of its source and gives those declared for it.

    For `each` row it gives one, in the same order. Else it gives any number, and may say in a column `__row`
    which row each was made of (see `user_rows`). Tombstones have no columns: they pass by the function.
    """

    operation: PythonMap
    function: BatchFunction
    schema: pa.Schema
    output_schema: pa.Schema

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows that the function makes of those that it gets."""
        (rows,) = slices
        parts = [part for _, part in slices_by_task(rows)]
        if self.operation.each:
            return concat_slices([self._each(part) for part in parts])
        return concat_slices([self._any_number(part, state) for part in parts])

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

    def _any_number(self, rows: Slice, state: LaneState) -> Slice:
        tombstone = np.asarray(rows.tombstone)
        passing = rows.take(pa.array(np.flatnonzero(tombstone)))
        passing = passing.with_columns(self._nulls(len(passing)))
        present = without_tombstones(rows)
        if not len(present):
            return passing
        mapped = self._mapped(present, state)
        if not len(passing):
            return mapped.rows
        # A tombstone stays behind what was made of the rows before it, and before the rest.
        origin = np.flatnonzero(~tombstone)[mapped.origin]
        order = np.argsort(np.concatenate([origin, np.flatnonzero(tombstone)]), kind="stable")
        both = concat_slices([mapped.rows, passing])
        return passing if both is None else both.take(pa.array(order))

    def _mapped(self, rows: Slice, state: LaneState) -> UserRows:
        """The rows that the function makes, without those of records to which it gives another task's key.

        Where the function does not say of which record a row was made, halves are tried until that is known.
        """
        called = self._called(rows)
        if self.operation.keyed:
            require_key(called, self.operation.python)
        mapped = user_rows(rows, called, self.output_schema, self.operation.python)
        if self.operation.stream is None or not len(mapped.rows):
            return mapped
        if state.rejected and state.ends_at_bad:
            return UserRows(mapped.rows.slice(0, 0), mapped.origin[:0])
        misplaced = state.misplaced(self.operation.stream, rows.source[0].as_py(), mapped.rows.key)
        if not misplaced:
            return mapped
        if len(rows) > 1 and mapped.rows.source[0].as_py() < 0:
            half = len(rows) // 2
            first, second = self._mapped(rows.slice(0, half), state), self._mapped(rows.slice(half), state)
            both = concat_slices([first.rows, second.rows])
            origin = np.concatenate([first.origin, second.origin + half])
            return UserRows(first.rows if both is None else both, origin)
        origins = mapped.origin[list(misplaced)]
        for origin, belongs in zip(origins.tolist(), misplaced.values(), strict=True):
            reason = f"{self.operation.python} made of it a row whose key {belongs}; {_MEND}"
            source, offset = rows.source[origin].as_py(), rows.offset[origin].as_py()
            state.rejected.append(RejectedRow(source, offset, reason))
        others = np.flatnonzero(~np.isin(mapped.origin, origins))
        return UserRows(mapped.rows.take(pa.array(others)), mapped.origin[others])

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
