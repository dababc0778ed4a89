"""Totals by key and session: rows of a key with no longer silence between them than the gap."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.aggregate.group_key import GroupKey
from streamapp_runtime.operators.aggregate.group_reduction import Measure, ReducedGroups, reduce_groups
from streamapp_runtime.operators.aggregate.session_store import SessionStore, StoredSessions
from streamapp_runtime.operators.aggregate.totals_form import TotalsForm
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.aggregate.window_output import WindowOutput
from streamapp_runtime.operators.aggregate.windows import Numbers, merge_sessions, window_columns
from streamapp_runtime.operators.state.lane_state import LaneState, LateRowBatch
from streamapp_runtime.operators.state.lookup_result import LookupResult
from streamapp_runtime.operators.state.required_values import with_time, without_tombstones
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task


@dataclass(frozen=True, slots=True)
class SessionTotalsExecutor:
    """Runs Totals with session windows.

    A key's sessions are one entry of its store, read and written whole: they should be few. On watermark a
    session goes out when the watermark passes its end, and again in each batch that still brings it rows; on
    update, each time it gets rows. It lasts from its first row to a gap after its last one. Where a row joins
    two sessions they go out as one; what went out of each before is not taken back.

    A row is late when the watermark is more than `lateness_ms` past it: so no row comes that would have
    joined a session which is forgotten.
    """

    operation: Totals
    key: GroupKey
    form: TotalsForm
    out: WindowOutput
    gap_ms: int

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The new totals of sessions that had rows, where these go out at once."""
        (rows,) = slices
        rows = self.key.groupable(without_tombstones(rows), self.operation.state, state)
        rows = with_time(rows, self.operation.state, state)
        parts = [self._of_task(part, task, state) for task, part in slices_by_task(rows)]
        return concat_slices([part for part in parts if part is not None])

    def finish_batch(self, state: LaneState) -> Slice | None:
        """Put out the sessions that are complete, and forget those that take no more rows."""
        parts = [slice_ for task in state.tasks for slice_ in self._ends(task, state).settled()]
        return concat_slices(parts)

    def close(self) -> None:
        """Nothing was opened."""

    def _ends(self, task: int, state: LaneState) -> SessionStore:
        return SessionStore(self.operation, self.form, self.out, self.gap_ms, task, state)

    def _of_task(self, rows: Slice, task: int, state: LaneState) -> Slice | None:
        ends = self._ends(task, state)
        rows = self._in_time(rows, ends.closed, state)
        if not len(rows):
            return None
        rows = self.key.keyed(rows)
        encoded = rows.key.dictionary_encode()
        keys, groups = encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)
        order, numbers = merge_sessions(groups, rows.time.to_numpy(), rows.time.to_numpy(), self.gap_ms)
        rows, groups = rows.take(pa.array(order)), groups[order]
        fresh = reduce_groups(
            (pa.array(numbers),), [*_from_to(rows.time, rows.time), *self.form.fresh(rows.columns)]
        )
        lookup = ends.find(keys)
        labels = self._labels(rows, len(keys), groups)
        sessions = self._joined(fresh, groups[fresh.last], lookup)
        measured = self.form.fitting(sessions.sums)
        if measured is None:
            columns = (sessions.numbers[: len(fresh.last)][numbers], rows.columns)
            failures = self.form.rows_beyond(sessions.sums, sessions.kept_values, columns)
            return self._of_task(state.without_failures(rows, failures), task, state)
        totals = [*sessions.spans, *measured]
        ends.keep(StoredSessions(keys, labels, sessions.groups, totals), lookup)
        had_rows = sessions.lasts >= 0
        changed = [column.filter(pa.array(had_rows)) for column in totals]
        if self.operation.emit == "onWatermark":
            ends.note(keys.take(pa.array(sessions.groups[had_rows])), changed)
            return None
        first, last, *outputs = changed
        rows = rows.take(pa.array(sessions.lasts[had_rows]))
        start, end = first.to_numpy(), last.to_numpy() + self.gap_ms
        columns = (*rows.columns, *window_columns(start, end), *outputs)
        return replace(rows, time=pa.array(end - 1)).with_columns(columns).choose(self.operation.chosen)

    def _in_time(self, rows: Slice, closed: int | None, state: LaneState) -> Slice:
        if closed is None:
            return rows
        late = pc.less(rows.time, closed - self.operation.lateness_ms)
        if not late.true_count:
            return rows
        state.leave_out(LateRowBatch(self.operation.state, rows.filter(late), self.out.schema, closed))
        return rows.filter(pc.invert(late))

    def _joined(self, fresh: ReducedGroups, fresh_groups: Numbers, lookup: LookupResult) -> "_JoinedSessions":
        """Sessions of rows and those that were kept, joined where they touch, by group."""
        *_, lists = lookup.rows.columns
        stored = lists.flatten().flatten()
        stored_groups = np.repeat(np.flatnonzero(lookup.places.is_valid()), lists.value_lengths())
        groups = np.concatenate([fresh_groups, stored_groups])
        starts, ends = (pa.concat_arrays(both) for both in zip(fresh.measured[:2], stored[:2], strict=True))
        order, numbers = merge_sessions(groups, starts.to_numpy(), ends.to_numpy(), self.gap_ms)
        # All measures are taken in the order of the sessions, so that these come out in theirs.
        ordered = pa.array(order)
        lasts = pa.concat_arrays([fresh.last, pa.array(np.full(len(stored_groups), -1))]).take(ordered)
        joined = reduce_groups(
            (pa.array(numbers),),
            [
                *_from_to(starts.take(ordered), ends.take(ordered)),
                Measure("max", lasts, pa.int64()),
                *(_in_order(total, ordered) for total in self.form.merged(fresh.measured[2:], stored[2:])),
            ],
        )
        start, end, last, *sums = joined.measured
        number_of = np.empty(len(order), np.int64)
        number_of[order] = numbers
        kept_values = (number_of[len(fresh_groups) :], stored[2:])
        return _JoinedSessions(
            (start, end), sums, last.to_numpy(), groups[order][joined.last], number_of, kept_values
        )

    def _labels(self, rows: Slice, keys: int, groups: Numbers) -> list[pa.Array]:
        """The key's columns of each key, as any of its rows has them."""
        places = np.empty(keys, np.int64)
        places[groups] = np.arange(len(groups))
        return [rows.columns[position].take(pa.array(places)) for position in self.out.labels]


@dataclass(frozen=True, slots=True)
class _JoinedSessions:
    """Sessions of a call in order, whose sums may not fit yet."""

    spans: tuple[pa.Array, pa.Array]
    sums: Sequence[pa.Array]
    lasts: Numbers  # where each has its last row; -1 where it has none
    groups: Numbers
    numbers: Numbers  # of each session of rows, and then of each that was kept: which of these it is part of
    kept_values: tuple[Numbers, Sequence[pa.Array]]  # totals from before, and which of these each is part of


def _in_order(measure: Measure, order: pa.Array) -> Measure:
    return measure if measure.over is None else replace(measure, over=measure.over.take(order))


def _from_to(starts: pa.Array, ends: pa.Array) -> tuple[Measure, Measure]:
    return Measure("min", starts, pa.int64()), Measure("max", ends, pa.int64())
