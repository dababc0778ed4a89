"""Events that pass once within ten minutes."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

WITHIN_MILLISECONDS = 600_000
SEEN, DUE = b"seen/", b"due/"


class FirstSeen:
    """Emits an event unless one of its id has passed within the last ten minutes of event time.

    The state has two rows for each event that is remembered: `seen/<id>` says when it passed, and
    `due/<time><id>` lies in the order of time, so that what is to be forgotten is found without a search.
    """

    state_columns = pa.schema([("passed_at", pa.int64())])

    def process(self, batch: pa.RecordBatch, state: Any, out: Any) -> None:
        """For each task that has rows."""
        self._forget(pc.max(batch["__time"]).as_py() - WITHIN_MILLISECONDS, state.own)
        ids = pc.unique(batch["__key"]).to_pylist()
        before = state.own.get(pa.array([SEEN + key for key in ids], pa.binary()))["passed_at"].to_pylist()
        passed_at, first = dict(zip(ids, before, strict=True)), []
        rows = (batch[name].to_pylist() for name in ("__key", "__time", "__tombstone"))
        for number, (key, time, tombstone) in enumerate(zip(*rows, strict=True)):
            earlier = passed_at[key]
            if not tombstone and (earlier is None or time - earlier >= WITHIN_MILLISECONDS):
                passed_at[key] = time
                first.append(number)
        self._remember(batch.take(pa.array(first, pa.int64())), state.own)
        columns = {name: batch[name].take(pa.array(first, pa.int64())) for name in ("id", "kind", "ts")}
        out(pa.record_batch({**columns, "__row": pa.array(first, pa.int64())}))

    def _remember(self, rows: pa.RecordBatch, own: Any) -> None:
        keys, times = rows["__key"].to_pylist(), rows["__time"]
        seen = [SEEN + key for key in keys]
        due = [_due(time) + key for key, time in zip(keys, times.to_pylist(), strict=True)]
        for stored in (seen, due):
            own.put(pa.array(stored, pa.binary()), pa.record_batch({"passed_at": times}))

    def _forget(self, before: int, own: Any) -> None:
        """Delete what passed up to this time. There are no timers: the next rows of the task do it."""
        for keys, rows in own.scan(DUE, _due(before + 1)):
            due = keys.cast(pa.binary()).to_pylist()
            ids = [SEEN + key[len(_due(0)) :] for key in due]
            last = own.get(pa.array(ids, pa.binary()))["passed_at"]
            is_last = pc.equal(last, rows["passed_at"]).to_pylist()
            over = [key for key, is_over in zip(ids, is_last, strict=True) if is_over]
            own.delete(pa.array(due + over, pa.binary()))


def _due(time: int) -> bytes:
    return DUE + max(time, 0).to_bytes(8, "big")
