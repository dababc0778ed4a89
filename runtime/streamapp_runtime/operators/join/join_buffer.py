"""The rows of one side of a stream-stream join that may still meet others, as its store keeps them.

Rows of one key whose times fall into one bucket, which is as long as two rows may be apart, are one entry. So
what a row can meet is in three entries of the other side, and what no row can meet any more is one range.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.join.row_pairs import Numbers
from streamapp_runtime.operators.state.time_keys import TIME_WIDTH, keys_without_times, time_keys
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, rows_without_origin

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class JoinRows:
    """Rows of one side and task, the times that count for the join, and whether each has met another row."""

    rows: Slice
    at: Numbers
    met: Flags

    def of(self, places: Numbers) -> "JoinRows":
        """The rows at these places."""
        return JoinRows(self.rows.take(pa.array(places)), self.at[places], self.met[places])


@dataclass(frozen=True, slots=True)
class BufferedRows:
    """Rows of entries, the stored ones first; `entry` is the place of each row's entry among the keys."""

    timed: JoinRows
    entry: Numbers
    stored: int
    keys: pa.Array


@dataclass(frozen=True, slots=True)
class JoinSide:
    """One side of a join: what tells its entries from the other's, and how long a bucket is."""

    number: int
    bucket_ms: int
    schema: pa.Schema

    def entries(self, times: Numbers, keys: pa.Array, shift: int = 0) -> pa.Array:
        """The entries of rows, or those so many buckets later."""
        within = pc.binary_join_element_wise(bytes([self.number]), keys, b"")
        return time_keys(times // self.bucket_ms + shift, within)

    def is_of(self, entries: pa.Array) -> pa.Array:
        """A mask of the entries of this side."""
        return pc.equal(pc.binary_slice(entries, TIME_WIDTH, TIME_WIDTH + 1), bytes([self.number]))

    def buffered(self, fresh: JoinRows, other: JoinRows, store: TypedRows) -> BufferedRows:
        """Fresh rows with what is stored in their entries, and in those that the other side may meet."""
        fresh_entries = self.entries(fresh.at, fresh.rows.key)
        near = (self.entries(other.at, other.rows.key, shift) for shift in (-1, 0, 1))
        keys = pc.unique(pa.concat_arrays([fresh_entries, *near]))
        lookup = store.find(keys)
        places = np.flatnonzero(lookup.places.is_valid())
        stored, parents = self.unpacked(store.task, keys.take(pa.array(places)), lookup.rows)
        both = JoinRows(
            concat_slices([stored.rows, fresh.rows]) or fresh.rows,
            np.concatenate([stored.at, fresh.at]),
            np.concatenate([stored.met, fresh.met]),
        )
        entry = np.concatenate([places[parents], pc.index_in(fresh_entries, value_set=keys).to_numpy()])
        return BufferedRows(both, entry, len(stored.at), keys)

    def unpacked(self, task: int, entries: pa.Array, batch: pa.RecordBatch) -> tuple[JoinRows, Numbers]:
        """The rows of entries, and which entry each is of."""
        lists = batch.column(0)
        parents = np.repeat(np.arange(len(lists)), lists.value_lengths())
        at, time, met, *columns = lists.flatten().flatten()
        keys = pc.binary_slice(keys_without_times(entries), 1, np.iinfo(np.int32).max)
        rows = rows_without_origin(task, keys.take(pa.array(parents)), time, tuple(columns))
        return JoinRows(rows, at.to_numpy(), met.to_numpy(zero_copy_only=False)), parents

    def put(self, buffered: BufferedRows, met: Flags, store: TypedRows) -> None:
        """Write the entries that have fresh rows, or rows that have now met another, with all their rows."""
        changed = np.zeros(len(buffered.keys), bool)
        changed[buffered.entry[buffered.stored :]] = True
        changed[buffered.entry[met & ~buffered.timed.met]] = True
        order = np.argsort(buffered.entry, kind="stable")
        order = order[changed[buffered.entry[order]]]
        timed = replace(buffered.timed, met=met).of(order)
        (field,) = self.schema
        values = [pa.array(timed.at), timed.rows.time, pa.array(timed.met), *timed.rows.columns]
        packed = pa.StructArray.from_arrays(values, fields=list(field.type.value_type))
        places = np.flatnonzero(changed)
        counts = np.bincount(buffered.entry[order], minlength=len(changed))[places]
        bounds = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
        lists = pa.ListArray.from_arrays(bounds, packed, type=field.type)
        store.put(
            buffered.keys.take(pa.array(places)), pa.RecordBatch.from_arrays([lists], schema=self.schema)
        )


def join_side(number: int, within_ms: int, columns: pa.Schema) -> JoinSide:
    """A side whose rows have these columns."""
    fields = [pa.field("at", pa.int64()), pa.field("time", pa.int64()), pa.field("met", pa.bool_())]
    fields += [pa.field(f"column-{place}", field.type) for place, field in enumerate(columns)]
    return JoinSide(number, max(within_ms, 1), pa.schema([("rows", pa.list_(pa.struct(fields)))]))
