"""Rows of two streams paired by key within a time of each other."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.control.control_message import EARLIEST, ENDED
from streamapp_runtime.operators.join.join_buffer import BufferedRows, JoinRows, JoinSide
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.join.row_pairs import KeyTimes, Numbers, key_numbers, matching_pairs
from streamapp_runtime.operators.state.lane_state import LaneState, LateRowBatch
from streamapp_runtime.operators.state.required_values import with_key, with_time, without_tombstones
from streamapp_runtime.operators.state.time_keys import key_before
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.rows.row_decoder import decode
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task

_KEEPS = {"inner": (False, False), "left": (True, False), "right": (False, True), "full": (True, True)}


@dataclass(frozen=True, slots=True)
class JoinExecutor:
    """Runs JoinStreams. Tombstones are no rows and are left out; a row without a key meets none.

    By arrival a row's time is that of its batch. A row of a side that is kept goes out alone when no later
    batch can bring it a partner, at the latest after twice the time that two rows may be apart.

    By event time a row is kept until the watermark is so far past it that no other can meet it; then a row
    of a side that is kept goes out alone, if it met none. Rows behind the watermark are late and left out.

    By event time without watermarks, where no source says which column tells it, a row is kept until one
    comes that is newer by more than twice that time. So every pair is found whose rows come no further
    behind the newest row of their task than that time. Of rows that come later still, pairs may be missed;
    none is wrong and none is given twice.
    """

    operation: JoinStreams
    sides: tuple[JoinSide, JoinSide]
    columns: tuple[pa.Schema, pa.Schema]

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The new pairs, and kept rows that can have no partner."""
        parts: list[Slice] = []
        fresh: list[dict[int, Slice]] = []
        for side, source in zip(self.sides, slices, strict=True):
            rows = without_tombstones(source)
            if self._by_event:
                rows = self._in_time(with_time(rows, self.operation.state, state), side, state)
            if self._keeps(side) and rows.key.null_count:
                parts.append(self._alone(side, rows.filter(rows.key.is_null())))
                rows = rows.filter(rows.key.is_valid())
            fresh.append(dict(slices_by_task(with_key(rows, self.operation.state, state))))
        for task in sorted({*fresh[0], *fresh[1]}):
            left, right = (
                self._timed(of_task.get(task, source.take(pa.array([], pa.int64()))), state)
                for of_task, source in zip(fresh, slices, strict=True)
            )
            parts.append(self._of_task(left, right, task, state))
        return concat_slices(parts)

    def finish_batch(self, state: LaneState) -> Slice | None:
        """Forget rows that can meet no other, and give those of kept sides that met none."""
        parts: list[Slice] = []
        for task in state.tasks:
            past = self._past(task, state)
            if past is not None:
                parts += self._forgotten(past, task, state)
            if state.clock.reopens and any(map(self._keeps, self.sides)):
                parts += self._ended(task, state)
        return concat_slices(parts)

    def close(self) -> None:
        """Nothing was opened."""

    @property
    def _by_event(self) -> bool:
        return self.operation.time == "event"

    def _past(self, task: int, state: LaneState) -> int | None:
        """Rows of before this can meet no others any more."""
        name, within = self.operation.state, self.operation.within_ms
        if not self._by_event:
            return state.time_ms - within
        reached = state.clock.past(task, name)
        if state.clock.is_timed(name) or reached == ENDED:
            moved = reached is not None and reached != state.clock.at_start(task, name)
            return reached - within if moved and reached is not None else None
        latest = newest_time(state, task, name)
        return None if latest is None else latest - 2 * within

    def _in_time(self, rows: Slice, side: JoinSide, state: LaneState) -> Slice:
        """The rows that are not late."""
        late = np.zeros(len(rows), bool)
        tasks, times = rows.task.to_numpy(), rows.time.to_numpy()
        for task in rows.tasks():
            closed = state.clock.at_start(task, self.operation.state)
            behind = (tasks == task) & (times < closed) if closed is not None else late[:0]
            if closed is not None and behind.any():
                schema = self.columns[side.number]
                state.leave_out(
                    LateRowBatch(self.operation.state, rows.filter(pa.array(behind)), schema, closed)
                )
                late |= behind
        return rows.filter(pa.array(~late)) if late.any() else rows

    def _keeps(self, side: JoinSide) -> bool:
        return _KEEPS[self.operation.type][side.number]

    def _timed(self, rows: Slice, state: LaneState) -> JoinRows:
        at = rows.time.to_numpy() if self._by_event else np.full(len(rows), state.time_ms)
        return JoinRows(rows, at, np.zeros(len(rows), bool))

    def _of_task(self, left: JoinRows, right: JoinRows, task: int, state: LaneState) -> Slice:
        stores = [TypedRows(state, task, self.operation.state, side.schema) for side in self.sides]
        buffers = (
            self.sides[0].buffered(left, right, stores[0]),
            self.sides[1].buffered(right, left, stores[1]),
        )
        met = _new_pairs(*buffers, self.operation.within_ms)
        for side, buffered, places, store in zip(self.sides, buffers, met, stores, strict=True):
            flags = buffered.timed.met.copy()
            if self._keeps(side):
                flags[places] = True
            side.put(buffered, flags, store)
        if self._by_event and not state.clock.is_timed(self.operation.state):
            note_newest_time(
                state, task, self.operation.state, int(np.concatenate([left.at, right.at]).max())
            )
        return self._paired(*buffers, *met)

    def _paired(self, left: BufferedRows, right: BufferedRows, lefts: Numbers, rights: Numbers) -> Slice:
        """The rows of pairs: each has the key of both, the later time, and the origin of a fresh row."""
        left_is_fresh = pa.array(lefts >= left.stored)
        a, b = left.timed.rows.take(pa.array(lefts)), right.timed.rows.take(pa.array(rights))
        return replace(
            a,
            time=pc.max_element_wise(a.time, b.time),
            source=pc.if_else(left_is_fresh, a.source, b.source),
            offset=pc.if_else(left_is_fresh, a.offset, b.offset),
            columns=(*a.columns, *b.columns),
        ).choose(self.operation.chosen)

    def _alone(self, side: JoinSide, rows: Slice) -> Slice:
        """Rows of one side, with nulls for the other's columns."""
        nulls = tuple(pa.nulls(len(rows), field.type) for field in self.columns[1 - side.number])
        columns = (*nulls, *rows.columns) if side.number else (*rows.columns, *nulls)
        return rows.with_columns(columns).choose(self.operation.chosen)

    def _forgotten(self, past: int, task: int, state: LaneState) -> list[Slice]:
        """Delete the buckets that end before a time."""
        name = self.operation.state
        alone: list[Slice] = []
        end = key_before(max(past, EARLIEST) // self.sides[0].bucket_ms)
        for keys, values in state.store(task, name).batches(b"", end):
            for side in filter(self._keeps, self.sides):
                of_side = side.is_of(keys)
                entries = decode(values.filter(of_side), side.schema)
                timed, _ = side.unpacked(task, keys.filter(of_side), entries)
                alone.append(self._alone(side, timed.rows.filter(pa.array(~timed.met))))
            state.write(task, name, keys, pa.nulls(len(keys), pa.binary()))
        return alone

    def _ended(self, task: int, state: LaneState) -> list[Slice]:
        """The rows of kept sides that met none, at the end of a turn; rows of the next may meet them."""
        name = self.operation.state
        if state.clock.at_end(task, name) != ENDED or state.clock.at_start(task, name) == ENDED:
            return []
        alone: list[Slice] = []
        key_batches = [batch for batch, _ in state.store(task, name).batches()]
        for side in filter(self._keeps, self.sides):
            store = TypedRows(state, task, name, side.schema)
            for keys in (batch.filter(side.is_of(batch)) for batch in key_batches):
                lookup = store.find(keys)
                timed, entry = side.unpacked(task, keys, lookup.rows)
                alone.append(self._alone(side, timed.rows.filter(pa.array(~timed.met))))
                side.put(BufferedRows(timed, entry, len(timed.at), keys), np.ones(len(timed.at), bool), store)
        return alone


def _new_pairs(left: BufferedRows, right: BufferedRows, within: int) -> tuple[Numbers, Numbers]:
    """Places of both rows of each pair that has a fresh row: pairs of stored rows went out before."""
    keys = key_numbers(left.timed.rows.key, right.timed.rows.key)
    a, b = KeyTimes(keys[0], left.timed.at), KeyTimes(keys[1], right.timed.at)
    with_fresh_left = matching_pairs(a.since(left.stored), b, within)
    with_fresh_right = matching_pairs(a.until(left.stored), b.since(right.stored), within)
    return (
        np.concatenate([with_fresh_left[0] + left.stored, with_fresh_right[0]]),
        np.concatenate([with_fresh_left[1], with_fresh_right[1] + right.stored]),
    )


_KEY = pa.array([key_before(2**63 - 1)], pa.binary())
"""Shorter than the key of any row, and behind all of them."""


def newest_time(state: LaneState, task: int, name: str) -> int | None:
    """The newest time seen; None before the first row."""
    value = state.store(task, name).get(_KEY)[0].as_py()
    return None if value is None else int.from_bytes(value, "little", signed=True)


def note_newest_time(state: LaneState, task: int, name: str, time: int) -> None:
    """Note a time that was seen; an older one changes nothing."""
    before_that = newest_time(state, task, name)
    if before_that is None or time > before_that:
        state.write(task, name, _KEY, pa.array([time.to_bytes(8, "little", signed=True)], pa.binary()))
