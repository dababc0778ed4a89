"""Totals by key and session: rows of a key with no longer silence between them than the gap."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.operations.by_task import by_task, together
from streamapp_runtime.operations.executor import Stateless
from streamapp_runtime.operations.found import Found
from streamapp_runtime.operations.group_key import GroupKey
from streamapp_runtime.operations.reduce import Measure, Reduced, reduce
from streamapp_runtime.operations.required import with_time, without_tombstones
from streamapp_runtime.operations.state import State
from streamapp_runtime.operations.totals_form import TotalsForm
from streamapp_runtime.operations.typed_rows import TypedRows
from streamapp_runtime.operations.windows import Numbers, bounds, sessions_of
from streamapp_runtime.program.operations import Totals


@dataclass(frozen=True, slots=True)
class KeepingSessions(Stateless):
    """Runs Totals with session windows.

    A key's sessions are one entry of its store, read and written whole: they should be few. As long as
    no watermark says that a session is over, each stays.

    A session goes out each time it gets rows, from its first row to a gap after its last one. Where a row
    joins two sessions they go out as one; what went out of each before is not taken back.
    """

    operation: Totals
    key: GroupKey
    form: TotalsForm
    gap_ms: int

    def execute(self, slices: tuple[Slice, ...], state: State) -> Slice | None:
        """The new totals of sessions that had rows."""
        (rows,) = slices
        rows = self.key.groupable(without_tombstones(rows), self.operation.state, state)
        rows = with_time(rows, self.operation.state, state)
        return together([self._of_task(part, task, state) for task, part in by_task(rows)])

    def _of_task(self, rows: Slice, task: int, state: State) -> Slice:
        rows = self.key.keyed(rows)
        encoded = rows.key.dictionary_encode()
        keys, groups = encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)
        order, numbers = sessions_of(groups, rows.time.to_numpy(), rows.time.to_numpy(), self.gap_ms)
        rows, groups = rows.take(pa.array(order)), groups[order]
        fresh = reduce(
            (pa.array(numbers),), [*_from_to(rows.time, rows.time), *self.form.fresh(rows.columns)]
        )
        kept = TypedRows(state, task, self.operation.state, sessions_schema(self.form))
        found = kept.find(keys)
        totals, lasts, groups = self._merged(fresh, groups[fresh.last], found)
        bounds_of_groups = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=len(keys)))])
        (field,) = kept.schema
        sessions = pa.StructArray.from_arrays(totals, fields=list(field.type.value_type))
        lists = pa.ListArray.from_arrays(pa.array(bounds_of_groups, pa.int32()), sessions, type=field.type)
        kept.put(keys, pa.RecordBatch.from_arrays([lists], schema=kept.schema))
        return self._put_out(rows, totals, lasts)

    def _merged(
        self, fresh: Reduced, fresh_groups: Numbers, found: Found
    ) -> tuple[list[pa.Array], Numbers, Numbers]:
        """Sessions of rows and those that were kept, joined: their totals, last rows and groups, by group."""
        lists = found.rows.column(0)
        stored = lists.flatten().flatten()
        stored_groups = np.repeat(np.flatnonzero(found.places.is_valid()), lists.value_lengths())
        groups = np.concatenate([fresh_groups, stored_groups])
        starts, ends = (pa.concat_arrays(both) for both in zip(fresh.measured[:2], stored[:2], strict=True))
        order, numbers = sessions_of(groups, starts.to_numpy(), ends.to_numpy(), self.gap_ms)
        # All measures are taken in the order of the sessions, so that these come out in theirs.
        ordered = pa.array(order)
        lasts = pa.concat_arrays([fresh.last, pa.array(np.full(len(stored_groups), -1))]).take(ordered)
        totals = [
            pa.concat_arrays(both).take(ordered) for both in zip(fresh.measured[2:], stored[2:], strict=True)
        ]
        joined = reduce(
            (pa.array(numbers),),
            [
                *_from_to(starts.take(ordered), ends.take(ordered)),
                Measure("max", lasts, pa.int64()),
                *self.form.merged(totals),
            ],
        )
        start, end, last, *merged = joined.measured
        return [start, end, *merged], last.to_numpy(), groups[order][joined.last]

    def _put_out(self, rows: Slice, totals: list[pa.Array], lasts: Numbers) -> Slice:
        """The sessions that got rows, beside the last row of each."""
        had_rows = lasts >= 0
        start, end, *measured = (column.filter(pa.array(had_rows)) for column in totals)
        last = rows.take(pa.array(lasts[had_rows]))
        window = bounds(start.to_numpy(), end.to_numpy() + self.gap_ms)
        return last.with_columns((*last.columns, *window, *measured)).choose(self.operation.chosen)


def sessions_schema(form: TotalsForm) -> pa.Schema:
    """One column: the sessions of a key, in order, each from its first to its last row."""
    fields = [pa.field("first", pa.int64()), pa.field("last", pa.int64()), *form.schema]
    return pa.schema([("sessions", pa.list_(pa.struct(fields)))])


def _from_to(starts: pa.Array, ends: pa.Array) -> tuple[Measure, Measure]:
    return Measure("min", starts, pa.int64()), Measure("max", ends, pa.int64())
