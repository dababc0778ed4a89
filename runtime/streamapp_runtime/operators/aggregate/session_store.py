"""The store of sessions: those whose end has come are found without looking at all keys.

A store has two kinds of entries. One holds the sessions of a key. The other, behind a time, names a key
that has to be looked at when the watermark passes that time. Each key that has sessions stands there once,
at the end of one of them or earlier: a session that continues is found too early, and put back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.control.control_message import ENDED
from streamapp_runtime.operators.aggregate.totals_form import TotalsForm
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.aggregate.window_output import WindowOutput
from streamapp_runtime.operators.aggregate.windows import Numbers
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.lookup_result import LookupResult
from streamapp_runtime.operators.state.stored_entries import SESSION_TIMES_PREFIX, SESSIONS_PREFIX
from streamapp_runtime.operators.state.time_keys import key_before, key_times, keys_without_times, time_keys
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.rows.slice import Slice

_KEYS, _TIMES, _BEHIND = SESSIONS_PREFIX, SESSION_TIMES_PREFIX, b"\x02"
"""What the entries of sessions begin with, those of times, and what comes after both."""


@dataclass(frozen=True, slots=True)
class StoredSessions:
    """Sessions in order of their keys: of each the number of its key, its first and last time, its totals."""

    keys: pa.Array
    labels: Sequence[pa.Array]  # the key's columns, by key
    groups: Numbers
    totals: Sequence[pa.Array]

    def chosen(self, mask: np.ndarray) -> "StoredSessions":
        """Some of the sessions; keys stay."""
        flags = pa.array(mask)
        return StoredSessions(
            self.keys, self.labels, self.groups[mask], [column.filter(flags) for column in self.totals]
        )


@dataclass(frozen=True, slots=True)
class SessionStore:
    """One task's sessions, and when they end."""

    operation: Totals
    form: TotalsForm
    out: WindowOutput
    gap_ms: int
    task: int
    state: LaneState

    @property
    def closed(self) -> int | None:
        """The watermark by which rows of this batch are late."""
        return self.state.clock.at_start(self.task, self.operation.state)

    def find(self, keys: pa.Array) -> LookupResult:
        """The entries of keys."""
        return self._kept.find(_prefixed(_KEYS, keys))

    def sessions(self, keys: pa.Array, lookup: LookupResult) -> StoredSessions:
        """The sessions in entries that were found; all of these keys have one."""
        _, *labels, lists = lookup.rows.columns
        groups = np.repeat(np.arange(len(keys)), lists.value_lengths())
        return StoredSessions(keys, labels, groups, lists.flatten().flatten())

    def keep(self, sessions: StoredSessions, lookup: LookupResult) -> None:
        """Write all sessions of these keys, of which some were found before."""
        due = self._due(sessions, self.closed)
        is_stored = np.asarray(lookup.places.is_valid())
        old = np.full(len(sessions.keys), ENDED)
        old[is_stored] = lookup.rows.column(0).to_numpy()
        earlier = due < old
        self._delete_times(sessions.keys, old, earlier & is_stored)
        self._write(sessions, np.minimum(due, old), earlier)

    def note(self, keys: pa.Array, totals: Sequence[pa.Array]) -> None:
        """Note sessions that were put out before, and have had rows now."""
        ends = totals[1].to_numpy() + self.gap_ms
        if self.closed is not None and (ends < self.closed).any():
            closed = ends < self.closed
            noted = time_keys(totals[0].to_numpy()[closed], keys.filter(pa.array(closed)))
            self.state.touched.setdefault((self.task, self.operation.state), []).append(noted)

    def settled(self) -> list[Slice]:
        """Put out what is complete, forget what takes no more rows, and say when to look again."""
        clock, name = self.state.clock, self.operation.state
        reached, past = clock.at_end(self.task, name), clock.past(self.task, name)
        parts = self._changed_late()
        if reached is None or reached == self.closed:
            return parts
        until = _BEHIND if reached == ENDED else _TIMES + key_before(reached)
        # All are read before any is written: what is put back may lie in the same range.
        due = [keys for keys, _ in self.state.store(self.task, name).batches(_TIMES, until)]
        for times in due:
            keys = keys_without_times(pc.binary_slice(times, 1, np.iinfo(np.int32).max))
            lookup = self.find(keys)
            sessions = self.sessions(keys, lookup)
            ends = sessions.totals[1].to_numpy() + self.gap_ms
            if self.operation.emit == "onWatermark":
                fires = (ends < reached) & (self.closed is None or ends >= (self.closed or 0))
                parts.append(self._rows(sessions.chosen(fires)))
            is_expired = (
                ends + self.operation.lateness_ms < past if past is not None else np.zeros(len(ends), bool)
            )
            self.state.write(self.task, name, times, pa.nulls(len(times), pa.binary()))
            open_sessions = sessions.chosen(~is_expired)
            self._write(open_sessions, self._due(open_sessions, reached), np.ones(len(keys), bool))
        return parts

    def _changed_late(self) -> list[Slice]:
        """Sessions that had been put out, and have had late rows since."""
        touched = self.state.touched.pop((self.task, self.operation.state), None)
        if not touched:
            return []
        noted = pc.unique(pa.concat_arrays(touched))
        keys = pc.unique(keys_without_times(noted))
        sessions = self.sessions(keys, self.find(keys))
        first, last = (column.to_numpy() for column in sessions.totals[:2])
        times_of = {key: set[int]() for key in keys.to_pylist()}
        for key, time in zip(keys_without_times(noted).to_pylist(), key_times(noted), strict=True):
            times_of[key].add(int(time))
        names = keys.to_pylist()
        changed = [
            any(first[n] <= time <= last[n] for time in times_of[names[group]])
            for n, group in enumerate(sessions.groups)
        ]
        closed = last + self.gap_ms < (self.closed or 0)
        return [self._rows(sessions.chosen(np.array(changed, bool) & closed))]

    def _rows(self, sessions: StoredSessions) -> Slice:
        of_each = pa.array(sessions.groups)
        first, last, *measured = sessions.totals
        spans = (first.to_numpy(), last.to_numpy() + self.gap_ms)
        labels = [column.take(of_each) for column in sessions.labels]
        return self.out.rows(self.task, sessions.keys.take(of_each), spans, [*labels, *measured])

    def _due(self, sessions: StoredSessions, watermark: int | None) -> Numbers:
        """The time to look at each key next, by that watermark; a key without sessions: never."""
        ends = sessions.totals[1].to_numpy() + self.gap_ms
        if watermark is not None and watermark != ENDED:
            ends = np.where(ends < watermark, ends + self.operation.lateness_ms, ends)
        due = np.full(len(sessions.keys), ENDED)
        np.minimum.at(due, sessions.groups, ends)
        return due

    def _write(self, sessions: StoredSessions, due: Numbers, new_times: np.ndarray) -> None:
        """Write keys with their sessions, and where they are to be found; a key without sessions goes."""
        counts = np.bincount(sessions.groups, minlength=len(sessions.keys))
        *_, field = self._kept.schema
        packed = pa.StructArray.from_arrays(sessions.totals, fields=list(field.type.value_type))
        bounds = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
        lists = pa.ListArray.from_arrays(bounds, packed, type=field.type)
        rows = pa.RecordBatch.from_arrays([pa.array(due), *sessions.labels, lists], schema=self._kept.schema)
        empty = counts == 0
        self._kept.put_or_delete(_prefixed(_KEYS, sessions.keys), rows, pa.array(empty))
        written = new_times & ~empty
        times = _at(due[written], sessions.keys.filter(pa.array(written)))
        self.state.write(self.task, self.operation.state, times, pa.array([b""] * len(times), pa.binary()))

    def _delete_times(self, keys: pa.Array, times: Numbers, chosen: np.ndarray) -> None:
        old = _at(times[chosen], keys.filter(pa.array(chosen)))
        self.state.write(self.task, self.operation.state, old, pa.nulls(len(old), pa.binary()))

    @property
    def _kept(self) -> TypedRows:
        schema = sessions_schema(self.form, self.out)
        return TypedRows(self.state, self.task, self.operation.state, schema)


def sessions_schema(form: TotalsForm, out: WindowOutput) -> pa.Schema:
    """The time to look at a key, its columns, and its sessions in order, from first to last row."""
    fields = [pa.field("first", pa.int64()), pa.field("last", pa.int64()), *form.schema]
    sessions = pa.field("sessions", pa.list_(pa.struct(fields)))
    return pa.schema([pa.field("due", pa.int64()), *out.fields, sessions])


def _prefixed(kind: bytes, keys: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(kind, keys, b"")


def _at(times: Numbers, keys: pa.Array) -> pa.Array:
    return _prefixed(_TIMES, time_keys(times, keys))
