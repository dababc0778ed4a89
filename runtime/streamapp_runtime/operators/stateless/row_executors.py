"""Rows kept, dropped or keyed by what stands in them."""

from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.compilation.row_operations import FilterRows, KeyRows, SelectColumns
from streamapp_runtime.operators.operation_executor import StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.predicate_evaluation import evaluate_predicate
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices


@dataclass(frozen=True, slots=True)
class FilterRowsExecutor(StatelessExecutor):
    """Runs Keep. A tombstone is not judged and passes."""

    operation: FilterRows

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows for which the condition is true."""
        (rows,) = slices
        mask = evaluate_predicate(self.operation.where, rows.columns, len(rows))
        if rows.tombstone.true_count:
            mask = pc.or_(mask, rows.tombstone)
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
        key = key_bytes(rows.columns[self.operation.key])
        if rows.tombstone.true_count:
            of_tombstones = rows.key if self.operation.tombstones_keep_key else pa.scalar(None, pa.binary())
            key = pc.if_else(rows.tombstone, of_tombstones, key)
        return replace(rows.choose(self.operation.chosen), key=key)


def key_bytes(column: pa.Array) -> pa.Array:
    """The text of each value, as Spark's `CAST(CAST(value AS STRING) AS BINARY)` writes it."""
    if pa.types.is_binary(column.type):
        return column
    return column.cast(pa.string()).cast(pa.binary())
