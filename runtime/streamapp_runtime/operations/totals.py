"""Running totals by key: a batch is reduced before a store is touched.

Each distinct key costs one read and one write for a call, however many rows it has. What goes out is one row
for each key that had rows: with its new totals, and for all else the last of these rows.
"""

from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.operations.by_task import by_task, together
from streamapp_runtime.operations.executor import Stateless
from streamapp_runtime.operations.group_key import GroupKey
from streamapp_runtime.operations.reduce import reduce
from streamapp_runtime.operations.required import without_tombstones
from streamapp_runtime.operations.state import State
from streamapp_runtime.operations.totals_form import TotalsForm
from streamapp_runtime.operations.typed_rows import TypedRows
from streamapp_runtime.program.operations import Totals


@dataclass(frozen=True, slots=True)
class KeepingTotals(Stateless):
    """Runs Totals without a window.

    Tombstones are no rows and are left out. Rows without a key lie in any task, so that there is no total of
    them: they are counted and skipped.
    """

    operation: Totals
    key: GroupKey
    form: TotalsForm

    def execute(self, slices: tuple[Slice, ...], state: State) -> Slice | None:
        """The new totals of what had rows."""
        (rows,) = slices
        rows = self.key.groupable(without_tombstones(rows), self.operation.state, state)
        return together([self._of_task(part, task, state) for task, part in by_task(rows)])

    def _of_task(self, rows: Slice, task: int, state: State) -> Slice:
        fresh = reduce(self.key.by(rows), self.form.fresh(rows.columns))
        last = self.key.keyed(rows.take(fresh.last))
        kept = TypedRows(state, task, self.operation.state, self.form.schema)
        totals = self.form.with_kept(fresh.measured, kept.find(last.key))
        kept.put(last.key, pa.RecordBatch.from_arrays(list(totals), schema=self.form.schema))
        return last.with_columns((*last.columns, *totals)).choose(self.operation.chosen)
