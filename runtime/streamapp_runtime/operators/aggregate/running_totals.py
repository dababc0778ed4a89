"""Running totals by key: a batch is reduced before a store is touched.

Each distinct key costs one read and one write for a call, however many rows it has. What goes out is one row
for each key that had rows: with its new totals, and for all else the last of these rows.
"""

from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.operators.aggregate.group_key import GroupKey
from streamapp_runtime.operators.aggregate.group_reduction import group_numbers, reduce_groups
from streamapp_runtime.operators.aggregate.totals_form import TotalsForm, kept_totals
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.operation_executor import StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.required_values import without_tombstones
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task


@dataclass(frozen=True, slots=True)
class RunningTotalsExecutor(StatelessExecutor):
    """Runs Totals without a window.

    Tombstones are no rows and are left out. Rows without a key lie in any task, so that there is no total of
    them: they are counted and skipped.
    """

    operation: Totals
    key: GroupKey
    form: TotalsForm

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The new totals of what had rows."""
        (rows,) = slices
        rows = self.key.groupable(without_tombstones(rows), self.operation.state, state)
        return concat_slices([self._of_task(part, task, state) for task, part in slices_by_task(rows)])

    def _of_task(self, rows: Slice, task: int, state: LaneState) -> Slice:
        by = self.key.by(rows)
        fresh = reduce_groups(by, self.form.fresh(rows.columns))
        last = self.key.keyed(rows.take(fresh.last))
        store = TypedRows(state, task, self.operation.state, self.form.schema)
        lookup = store.find(last.key)
        sums = self.form.with_kept(fresh.measured, lookup)
        totals = self.form.fitting(sums)
        if totals is None:
            failures = self.form.rows_beyond(sums, kept_totals(lookup), (group_numbers(by), rows.columns))
            return self._of_task(state.without_failures(rows, failures), task, state)
        store.put(last.key, pa.RecordBatch.from_arrays(list(totals), schema=self.form.schema))
        return last.with_columns((*last.columns, *totals)).choose(self.operation.chosen)
