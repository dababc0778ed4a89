"""Rows kept, dropped or keyed by what stands in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.compilation.row_operations import (
    ComputeColumns,
    FilterRows,
    KeyRows,
    SelectColumns,
)
from streamapp_runtime.operators.operation_executor import OperationRunner, StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices


@dataclass(frozen=True, slots=True)
class FilterRowsExecutor(StatelessExecutor):
    """Runs Keep. A tombstone is not judged and passes."""

    operation: FilterRows

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows for which the condition is true."""
        (rows,) = slices
        values = RowValues(rows.columns, len(rows))
        mask = values.condition(self.operation.where)
        if rows.tombstone.true_count:
            mask = pc.or_(mask, rows.tombstone)
        state.note_failures(rows, values.failures)  # where it failed it is not true
        return rows if mask.true_count == len(rows) else rows.filter(mask)


@dataclass(frozen=True, slots=True)
class SelectColumnsExecutor(StatelessExecutor):
    """Runs Choose, over one source or over several that are merged."""

    operation: SelectColumns

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The same rows with the chosen columns."""
        return concat_slices([rows.choose(self.operation.chosen) for rows in slices])


@dataclass(frozen=True, slots=True)
class KeyRowsExecutor(StatelessExecutor):
    """Runs KeyRows."""

    operation: KeyRows

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The same rows with the chosen columns, under the new key."""
        (rows,) = slices
        made = key_bytes(rows.columns[self.operation.key])
        key = _keys_of(rows, made, self.operation.tombstones_keep_key)
        return replace(rows.choose(self.operation.chosen), key=key)


@dataclass(frozen=True, slots=True)
class ComputeColumnsExecutor(StatelessExecutor):
    """Runs ComputeColumns. A tombstone has no columns, whatever is computed."""

    operation: ComputeColumns
    output_schema: pa.Schema

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The same rows with the computed columns, without those on which that fails."""
        (rows,) = slices
        values = RowValues(rows.columns, len(rows))
        columns = [
            values.column(value, field.type)
            for value, field in zip(self.operation.values, self.output_schema, strict=True)
        ]
        computed, key, delete = rows.with_columns(columns), self.operation.key, self.operation.delete
        if key is not None:
            made = values.column(key, pa.binary())
            computed = replace(computed, key=_keys_of(rows, made, self.operation.tombstones_keep_key))
        if delete is not None:
            computed = replace(computed, tombstone=pc.or_(rows.tombstone, values.condition(delete)))
        if computed.tombstone.true_count:
            columns = [pc.if_else(computed.tombstone, None, column) for column in computed.columns]
            computed = computed.with_columns(columns)
        failed_rows = state.note_failures(rows, values.failures)
        if not failed_rows:
            return computed
        return computed.filter(pa.array(~np.isin(np.arange(len(rows)), failed_rows)))


def _compute_columns(
    operation: ComputeColumns, _: Sequence[pa.Schema], output_schema: pa.Schema
) -> ComputeColumnsExecutor:
    if not output_schema.names:  # nobody reads them, and Spark would compute nothing either
        operation = replace(operation, values=())
    return ComputeColumnsExecutor(operation, output_schema)


COMPUTE_COLUMNS_RUNNER = OperationRunner(executor=_compute_columns, state_form=None)


def _keys_of(rows: Slice, key: pa.Array, tombstones_keep_key: bool) -> pa.Array:
    """The keys of rows; tombstones have their own, or none."""
    if rows.tombstone.true_count:
        of_tombstones = rows.key if tombstones_keep_key else pa.scalar(None, pa.binary())
        key = pc.if_else(rows.tombstone, of_tombstones, key)
    return key


def key_bytes(column: pa.Array) -> pa.Array:
    """The text of each value, as Spark's `CAST(CAST(value AS STRING) AS BINARY)` writes it."""
    if pa.types.is_binary(column.type):
        return column
    return column.cast(pa.string()).cast(pa.binary())
