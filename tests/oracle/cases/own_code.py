"""Python of random apps, as users write it: it knows its columns by the batch that it is given."""

from collections.abc import Sequence
from typing import Any, Final, Protocol
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MODULE: Final = __name__
LEAST_RATE: Final = 3
"""Of so many keys of the remote table one has no row."""


class State(Protocol):
    """A table of a task, as `process` has it."""

    def get(self, keys: pa.Array) -> pa.RecordBatch:
        """A row for each key."""

    def put(self, keys: pa.Array, rows: pa.RecordBatch) -> None:
        """A row under each key."""

    def delete(self, keys: pa.Array) -> None:
        """No more row under these keys."""


def count_nulls(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Each row, with the number of its columns that are null."""
    nulls = np.zeros(len(batch), np.int64)
    for column in batch.columns:
        nulls += np.asarray(column.is_null())
    return batch.append_column("nulls", pa.array(nulls))


def repeat_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Each row as often as its `id` leaves a rest by three, with the number of the copy."""
    times = pc.fill_null(batch["id"], 0).to_numpy() % 3
    rows = np.repeat(np.arange(len(batch)), times)
    copies = np.concatenate([np.arange(one) for one in times]) if len(times) else times
    repeated = batch.take(pa.array(rows))
    repeated = repeated.append_column("copy", pa.array(copies, pa.int64()))
    return repeated.append_column("__row", pa.array(rows))


def fill_table(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of a table under the text of `k`; one whose second column is null deletes its key."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    key = columns.pop("k")
    second = next(iter(columns.values()))
    made = {"tk": key, **columns, "__key": key.cast(pa.string()), "__tombstone": second.is_null()}
    return pa.record_batch(made | {"__row": pa.array(range(len(batch)))})


class Numbered:
    """Numbers the rows of each key from one on; a tombstone has the numbers begin again."""

    state_columns = pa.schema([("seen", pa.int64())])

    def open(self, context: Any) -> None:
        """Choose the table that it counts in, or state of its own."""
        self.table = next(iter(context.tables), None)

    def process(self, batch: pa.RecordBatch, state: Any, out: Any) -> None:
        """Number the rows of a task."""
        counts: State = state.own if self.table is None else state[self.table]
        keys: list[bytes | None] = batch["__key"].to_pylist()
        known = list(dict.fromkeys(key for key in keys if key is not None))
        stored = counts.get(pa.array(known, pa.binary()))["seen"].to_pylist()
        seen = dict(zip(known, (number or 0 for number in stored), strict=True))
        numbers: list[int | None] = []
        gone: list[bool] = batch["__tombstone"].to_pylist()
        for key, is_gone in zip(keys, gone, strict=True):
            if key is not None:
                seen[key] = 0 if is_gone else seen[key] + 1
            numbers.append(None if key is None or is_gone else seen[key])
        kept = [key for key in known if seen[key]]
        counts.put(pa.array(kept, pa.binary()), pa.record_batch({"seen": [seen[key] for key in kept]}))
        counts.delete(pa.array([key for key in known if not seen[key]], pa.binary()))
        shown = {name: batch[name] for name in batch.schema.names if not name.startswith("__")}
        rows = pa.array(range(len(batch)))
        out(
            pa.record_batch(
                shown
                | {"seen": pa.array(numbers, pa.int64()), "__row": rows, "__tombstone": batch["__tombstone"]}
            )
        )

    def close(self) -> None:
        """Nothing was opened."""


class Rates:
    """A remote table whose rows follow from their keys."""

    def get_many(self, keys: pa.BinaryArray) -> Sequence[dict[str, int | None] | None]:
        """The row of each key; some keys have none."""
        return [rate_of(key) for key in keys.to_pylist()]


def rate_of(key: bytes) -> dict[str, int | None] | None:
    """The row of a key."""
    number = crc32(key)
    return {"rate": number % 1000 or None} if number % LEAST_RATE else None
