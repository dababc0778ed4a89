"""Totals by key, and by window where there is one: a batch is reduced before a store is touched.

Each distinct key costs one read and one write for a call, however many rows it has. What goes out is one row
for each key, or key and window, that had rows: with its new totals, and for all else the last of these rows.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.operations.by_task import by_task, together
from streamapp_runtime.operations.executor import Stateless
from streamapp_runtime.operations.group_key import GroupKey
from streamapp_runtime.operations.reduce import Reduced, reduce
from streamapp_runtime.operations.required import with_time, without_tombstones
from streamapp_runtime.operations.state import State
from streamapp_runtime.operations.time_keys import time_keys
from streamapp_runtime.operations.totals_form import TotalsForm
from streamapp_runtime.operations.typed_rows import TypedRows
from streamapp_runtime.operations.windows import bounds, windows_of
from streamapp_runtime.program.operations import Span, Totals


@dataclass(frozen=True, slots=True)
class KeepingTotals(Stateless):
    """Runs Totals without a window, or with tumbling or hopping ones.

    Tombstones are no rows and are left out. Rows without a key lie in any task, so that there is no total of
    them: they are counted and skipped, as are those without a time where there are windows. A window is kept
    as long as no watermark says that it is over.
    """

    operation: Totals
    key: GroupKey
    form: TotalsForm

    def execute(self, slices: tuple[Slice, ...], state: State) -> Slice | None:
        """The new totals of what had rows."""
        window = self.operation.window
        (rows,) = slices
        rows = self.key.groupable(without_tombstones(rows), self.operation.state, state)
        if window is not None:
            rows = with_time(rows, self.operation.state, state)
        return together(
            [
                self._running(part, task, state)
                if window is None
                else self._windowed(part, task, state, window)
                for task, part in by_task(rows)
            ]
        )

    def _running(self, rows: Slice, task: int, state: State) -> Slice:
        fresh = reduce(self.key.by(rows), self.form.fresh(rows.columns))
        last = self.key.keyed(rows.take(fresh.last))
        totals = self._kept(fresh, last.key, task, state)
        return last.with_columns((*last.columns, *totals)).choose(self.operation.chosen)

    def _windowed(self, rows: Slice, task: int, state: State, span: Span) -> Slice:
        places, starts = windows_of(rows.time.to_numpy(), span.size_ms, span.advance_ms)
        rows = rows.take(pa.array(places))
        fresh = reduce((*self.key.by(rows), pa.array(starts)), self.form.fresh(rows.columns))
        last = self.key.keyed(rows.take(fresh.last))
        starts = fresh.groups[-1].to_numpy()
        totals = self._kept(fresh, time_keys(starts, last.key), task, state)
        columns = (*last.columns, *bounds(starts, starts + span.size_ms), *totals)
        return last.with_columns(columns).choose(self.operation.chosen)

    def _kept(self, fresh: Reduced, keys: pa.Array, task: int, state: State) -> tuple[pa.Array, ...]:
        """What is fresh merged with what is kept, and kept in its place."""
        kept = TypedRows(state, task, self.operation.state, self.form.schema)
        found = kept.find(keys)
        totals = fresh.measured
        if found.rows.num_rows:
            groups = np.concatenate([np.arange(len(keys)), np.flatnonzero(found.places.is_valid())])
            totals = reduce(
                (pa.array(groups),), self.form.merged(fresh.measured, found.rows.columns)
            ).measured
        kept.put(keys, pa.RecordBatch.from_arrays(list(totals), schema=self.form.schema))
        return totals
