"""Totals by key and window of event time, tumbling or hopping ones.

A batch is reduced before a store is touched: each window of a key costs one read and one write for a call,
however many rows it has.
"""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.control.control_message import EARLIEST, NO_BOUND
from streamapp_runtime.operators.aggregate.group_key import GroupKey
from streamapp_runtime.operators.aggregate.group_reduction import group_numbers, reduce_groups
from streamapp_runtime.operators.aggregate.totals_form import TotalsForm, kept_totals
from streamapp_runtime.operators.aggregate.totals_operation import Span, Totals
from streamapp_runtime.operators.aggregate.window_output import WindowOutput
from streamapp_runtime.operators.aggregate.windows import Numbers, window_columns, windows_of
from streamapp_runtime.operators.state.lane_state import LaneState, LateRowBatch
from streamapp_runtime.operators.state.required_values import with_time, without_tombstones
from streamapp_runtime.operators.state.time_keys import key_before, key_times, keys_without_times, time_keys
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task


@dataclass(frozen=True, slots=True)
class WindowTotalsExecutor:
    """Runs Totals with tumbling or hopping windows.

    Tombstones are no rows, and rows without a key lie in any task: they are left out, as are rows without a
    time. A window takes rows until the watermark is `lateness_ms` past its end; then its state goes. On
    watermark it goes out once when the watermark passes its end, and again in each batch that still brings it
    rows; on update, with every call that brings it some.
    """

    operation: Totals
    key: GroupKey
    form: TotalsForm
    out: WindowOutput
    span: Span

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The new totals of the windows that had rows, where these go out at once."""
        (rows,) = slices
        rows = self.key.groupable(without_tombstones(rows), self.operation.state, state)
        rows = with_time(rows, self.operation.state, state)
        parts = [self._of_task(part, task, state) for task, part in slices_by_task(rows)]
        return concat_slices([part for part in parts if part is not None])

    def finish_batch(self, state: LaneState) -> Slice | None:
        """Put out the windows that are complete, and forget those that take no more rows."""
        parts: list[Slice] = []
        for task in state.tasks:
            if self._on_watermark:
                parts += self._completed(task, state)
                parts += self._changed_late(task, state)
            self._forget(task, state)
        return concat_slices(parts)

    def close(self) -> None:
        """Nothing was opened."""

    @property
    def _on_watermark(self) -> bool:
        return self.operation.emit == "onWatermark"

    @property
    def _schema(self) -> pa.Schema:
        return pa.schema([*self.out.fields, *self.form.schema])

    def _of_task(self, rows: Slice, task: int, state: LaneState) -> Slice | None:
        places, starts = windows_of(rows.time.to_numpy(), self.span.size_ms, self.span.advance_ms)
        closed = state.clock.at_start(task, self.operation.state)
        if closed is not None:
            places, starts = self._open(rows, places, starts, closed, state)
        return self._in_windows(rows, places, starts, task, state)

    def _in_windows(
        self, all_rows: Slice, places: Numbers, starts: Numbers, task: int, state: LaneState
    ) -> Slice | None:
        """The new totals of windows, of which each has the row at such a place and begins at such a time."""
        if not len(places):
            return None
        rows = all_rows.take(pa.array(places))
        by = (*self.key.by(rows), pa.array(starts))
        fresh = reduce_groups(by, self.form.fresh(rows.columns))
        last = self.key.keyed(rows.take(fresh.last))
        window_starts = fresh.groups[-1].to_numpy()
        keys = time_keys(window_starts, last.key)
        store = TypedRows(state, task, self.operation.state, self._schema)
        labels = [last.columns[position] for position in self.out.labels]
        lookup = store.find(keys)
        sums = self.form.with_kept(fresh.measured, lookup, len(labels))
        totals = self.form.fitting(sums)
        if totals is None:
            kept_values = kept_totals(lookup, len(labels))
            failures = self.form.rows_beyond(sums, kept_values, (group_numbers(by), rows.columns))
            state.note_failures(rows, failures)
            rest = ~np.isin(places, places[list(failures)])
            return self._in_windows(all_rows, places[rest], starts[rest], task, state)
        store.put(keys, pa.RecordBatch.from_arrays([*labels, *totals], schema=self._schema))
        closed = state.clock.at_start(task, self.operation.state)
        ends = window_starts + self.span.size_ms
        if self._on_watermark:
            if closed is not None and (ends <= closed).any():
                state.touched.setdefault((task, self.operation.state), []).append(keys.filter(ends <= closed))
            return None
        columns = (*last.columns, *window_columns(window_starts, ends), *totals)
        return replace(last, time=pa.array(ends - 1)).with_columns(columns).choose(self.operation.chosen)

    def _open(
        self, rows: Slice, places: Numbers, starts: Numbers, closed: int, state: LaneState
    ) -> tuple[Numbers, Numbers]:
        """Without the windows that take no more rows. A row that lies in no other comes too late."""
        takes = starts + self.span.size_ms + self.operation.lateness_ms > closed
        if takes.all():
            return places, starts
        in_none = np.ones(len(rows), bool)
        in_none[places[takes]] = False
        in_some_window = np.zeros(len(rows), bool)  # hops may leave gaps between windows
        in_some_window[places] = True
        late = rows.filter(pa.array(in_none & in_some_window))
        if len(late):
            state.leave_out(LateRowBatch(self.operation.state, late, self.out.schema, closed))
        return places[takes], starts[takes]

    def _completed(self, task: int, state: LaneState) -> list[Slice]:
        """The windows whose end the watermark passes in this batch: each was told of in no other."""
        name = self.operation.state
        was, reached = state.clock.at_start(task, name), state.clock.at_end(task, name)
        if reached is None or reached == was:
            return []
        store = TypedRows(state, task, name, self._schema)
        batches = store.scan(self._ending(was) or b"", self._ending(reached))
        return [self._rows(task, *windows) for windows in batches]

    def _changed_late(self, task: int, state: LaneState) -> list[Slice]:
        """Windows that had been put out, and have had late rows since."""
        touched = state.touched.pop((task, self.operation.state), None)
        if not touched:
            return []
        keys = pc.unique(pa.concat_arrays(touched))
        lookup = TypedRows(state, task, self.operation.state, self._schema).find(keys)
        return [self._rows(task, keys, lookup.rows)]

    def _rows(self, task: int, keys: pa.Array, stored_rows: pa.RecordBatch) -> Slice:
        starts = key_times(keys)
        spans = (starts, starts + self.span.size_ms)
        return self.out.rows(task, keys_without_times(keys), spans, stored_rows.columns)

    def _forget(self, task: int, state: LaneState) -> None:
        name = self.operation.state
        past = state.clock.past(task, name)
        if past is None or past == state.clock.at_start(task, name):
            return
        for keys, _ in state.store(task, name).batches(b"", self._ending(past, self.operation.lateness_ms)):
            state.write(task, name, keys, pa.nulls(len(keys), pa.binary()))

    def _ending(self, watermark: int | None, more: int = 0) -> bytes | None:
        """The key before which all windows end that a watermark has passed, by so much; None for all."""
        if watermark is None:
            return b""
        if watermark >= NO_BOUND:
            return None
        return key_before(max(watermark - self.span.size_ms - more + 1, EARLIEST))
