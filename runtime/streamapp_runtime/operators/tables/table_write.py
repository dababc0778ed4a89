"""Tables filled with rows: of equal keys the last row stays, a tombstone deletes."""

from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.operators.operation_executor import StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.required_values import with_key
from streamapp_runtime.operators.state.typed_rows import TypedRows, encode_or_delete
from streamapp_runtime.operators.tables.table_operations import FillTable, WriteTable
from streamapp_runtime.rows.distinct_keys import last_of_each
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import slices_by_task


@dataclass(frozen=True, slots=True)
class TableWriteExecutor(StatelessExecutor):
    """Runs SendToTable and SideInput. Rows with a null key are counted and skipped."""

    operation: WriteTable | FillTable

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> None:
        """Write the rows; nothing comes of it."""
        name = self.operation.table
        for rows in slices:
            for task, part in slices_by_task(with_key(rows, name, state)):
                last = part.take(last_of_each(part.key)).choose(self.operation.chosen)
                schema = state.schemas[name]
                batch = pa.RecordBatch.from_arrays(list(last.columns), schema=schema)
                if isinstance(self.operation, FillTable):
                    state.fill(task, name, last.key, encode_or_delete(batch, schema, last.tombstone))
                else:
                    TypedRows(state, task, name, schema).put_or_delete(last.key, batch, last.tombstone)
