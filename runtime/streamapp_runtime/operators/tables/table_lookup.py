"""Rows joined with a table: a lookup for each distinct key, not for each row."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.operation_executor import StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.lookup_result import LookupResult
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.operators.tables.table_operations import LookUp, LookUpRemote
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task


@dataclass(frozen=True, slots=True)
class LookUpExecutor(StatelessExecutor):
    """Runs LookUp. A null key matches nothing. A tombstone is not looked up and passes."""

    operation: LookUp

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows with the table's columns beside their own."""
        (rows,) = slices
        return concat_slices([self._of_task(part, task, state) for task, part in slices_by_task(rows)])

    def _of_task(self, rows: Slice, task: int, state: LaneState) -> Slice:
        name = self.operation.table
        return _joined(rows, self.operation, TypedRows(state, task, name, state.schemas[name]).find)


@dataclass(frozen=True, slots=True)
class RemoteLookUpExecutor(StatelessExecutor):
    """Runs LookUpRemote, the same with a table that is one for all tasks."""

    operation: LookUpRemote

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows with the table's columns beside their own."""
        (rows,) = slices
        return _joined(rows, self.operation, partial(state.ask, self.operation.table)) if len(rows) else None


def _joined(rows: Slice, operation: LookUp | LookUpRemote, find: Callable[[pa.Array], LookupResult]) -> Slice:
    encoded = _keys(rows, operation.key).dictionary_encode()
    lookup = find(encoded.dictionary)
    places = lookup.places.take(encoded.indices)
    if not operation.keeps_unmatched and places.null_count:
        mask = pc.or_(places.is_valid(), rows.tombstone)
        rows, places = rows.filter(mask), places.filter(mask)
    row_width = len(rows.columns)
    return rows.with_columns(
        rows.columns[position]
        if position < row_width
        else lookup.rows.column(position - row_width).take(places)
        for position in operation.chosen
    )


def _keys(rows: Slice, column: int | None) -> pa.Array:
    keys = rows.key if column is None else rows.columns[column].cast(pa.binary())
    if rows.tombstone.true_count:
        return pc.if_else(rows.tombstone, pa.scalar(None, keys.type), keys)
    return keys
