"""Code of apps in these tests, as a user would write it."""

import ctypes
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def shouted(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.record_batch({"user": batch["user"], "loud": pc.utf8_upper(batch["page"])})


def with_worker(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Says beside each row which process has worked on it."""
    workers = pa.array([os.getpid()] * len(batch), pa.int32())
    return pa.record_batch({"user": batch["user"], "n": batch["n"], "worker": workers})


def picky(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Fails on one of its rows, and does not say on which."""
    if 13 in batch["n"].to_pylist():
        raise ValueError("thirteen is bad luck")
    return pa.record_batch({"user": batch["user"], "n": batch["n"]})


def broken(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Fails on every row, as code with a fault does."""
    raise KeyError("name")


def crashing(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Reads where there is no memory, on one of its rows."""
    if 13 in batch["n"].to_pylist():
        ctypes.string_at(0)
    return batch.select(["user", "n"])


def exiting(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Ends its process on one of its rows."""
    if 13 in batch["n"].to_pylist():
        os._exit(7)
    return batch.select(["user", "n"])


def hanging(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Waits for ever on one of its rows."""
    if 13 in batch["n"].to_pylist():
        threading.Event().wait()
    return batch.select(["user", "n"])


def slow(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Takes a third of a second for its rows."""
    threading.Event().wait(0.33)
    return batch.select(["user", "n"])


def exhausting(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Asks for more memory than there is, on one of its rows."""
    if 13 in batch["n"].to_pylist():
        bytearray(1 << 60)
    return batch.select(["user", "n"])


class Counting:
    """How many rows each user has had, kept in a table of its own."""

    state_columns = pa.schema([("seen", pa.int64())])

    def process(self, batch: pa.RecordBatch, state: Any, out: Callable[[pa.RecordBatch], None]) -> None:
        keys = batch["__key"]
        counted = pc.value_counts(keys)
        names, counts = counted.field("values"), counted.field("counts")
        before = pc.fill_null(state.own.get(names)["seen"], 0)
        seen = pc.add(before, counts)
        state.own.put(names, pa.record_batch({"seen": seen}))
        out(pa.record_batch({"user": names.cast(pa.string()), "seen": seen, "__key": names}))


class Keeping:
    """Puts each row into a table, and gives it on."""

    def process(self, batch: pa.RecordBatch, state: Any, out: Callable[[pa.RecordBatch], None]) -> None:
        state["seen"].put(batch["__key"], pa.record_batch({"last": batch["n"]}))
        out(batch.select(["user", "n"]))


def doubled(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.concat_batches([batch, batch])


def changes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Records of changes: what they are changes to, and whether it was deleted."""
    return pa.record_batch(
        {
            "__key": batch["id"],
            "tier": batch["tier"],
            "__tombstone": pc.equal(batch["op"], "delete"),
        }
    )


def keyless(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.select(["tier"])


def renamed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Rows under another key than that of their records."""
    return pa.record_batch({"__key": batch["name"], "tier": batch["tier"]})


def renamed_by_row(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same, and of which record each row was made."""
    return renamed(batch).append_column("__row", pa.array(range(batch.num_rows), pa.int64()))


def held(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Waits for as long as there is a file that a row names, and says so by another beside it."""
    for name in filter(None, batch["hold"].to_pylist()):
        Path(name).with_suffix(".seen").touch()
        while Path(name).exists():
            time.sleep(0.01)
    return with_worker(batch)
