"""Tables filled with rows: of equal keys the last row stays, a tombstone deletes."""

from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.operations.by_task import by_task
from streamapp_runtime.operations.distinct import last_of_each
from streamapp_runtime.operations.executor import Stateless
from streamapp_runtime.operations.required import with_key
from streamapp_runtime.operations.state import State
from streamapp_runtime.operations.typed_rows import TypedRows, encoded
from streamapp_runtime.program.operations import SendToTable, SideInput


@dataclass(frozen=True, slots=True)
class Filling(Stateless):
    """Runs SendToTable and SideInput. Rows with a null key are counted and skipped."""

    operation: SendToTable | SideInput

    def execute(self, slices: tuple[Slice, ...], state: State) -> None:
        """Write the rows; nothing comes of it."""
        name = self.operation.table
        for rows in slices:
            for task, part in by_task(with_key(rows, name, state)):
                last = part.take(last_of_each(part.key)).choose(self.operation.chosen)
                schema = state.schemas[name]
                batch = pa.RecordBatch.from_arrays(list(last.columns), schema=schema)
                if isinstance(self.operation, SideInput):
                    state.fill(task, name, last.key, encoded(batch, schema, last.tombstone))
                else:
                    TypedRows(state, task, name, schema).put_or_delete(last.key, batch, last.tombstone)
