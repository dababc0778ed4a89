"""Decoding a batch around its bad records, so that these cost the others as little as can be.

A batch is decoded whole. Where that fails, the records that the decoder names as bad are left out and the
others are tried again. Where the decoder names none, the batch is cut into pieces, until each bad record is
named or alone.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from streamapp_runtime.formats.record_format import DecodedBatch, UndecodableError, UndecodableRecord

Decode = Callable[[pa.BinaryArray], pa.RecordBatch]
"""A row for each value, none of which is null, or an UndecodableError."""

BLOCK_RECORDS = 256
"""A batch of no more values is small enough to look at each, when something is wrong with some."""
PIECES = 64
FRAME_BYTES = 5


def decode_around_bad_records(values: pa.BinaryArray, decode: Decode) -> DecodedBatch:
    """All values decoded, the bad ones named; null values become rows of nulls."""
    places = np.flatnonzero(values.is_valid())
    pieces: list[pa.RecordBatch] = []
    good: list[np.ndarray] = []
    bad: dict[int, str] = {}
    waiting = [places]
    while waiting:
        rows = waiting.pop()
        try:
            pieces.append(decode(_chosen(values, rows)))
            good.append(rows)
        except UndecodableError as failure:
            named = failure.named if len(rows) > 1 else {0: failure.reason}
            bad.update((int(rows[at]), reason) for at, reason in named.items())
            left = np.delete(rows, list(named))
            waiting += ([left] if named else _cut(left)) if len(left) else []
    columns = rows_in_place(pieces or [decode(values.slice(0, 0))], good, len(values))
    return DecodedBatch(columns, without_registry(bad, values))


def without_registry(bad: Mapping[int, str], values: pa.BinaryArray) -> tuple[UndecodableRecord, ...]:
    """The bad records of a format that asks no registry: some of these may be framed for one."""
    return tuple(
        UndecodableRecord(index, bad[index] + _registry_frame(values[index].as_py())) for index in sorted(bad)
    )


def _registry_frame(value: bytes) -> str:
    """That a record begins with a zero and the id of its schema, which no format here takes for a frame."""
    if len(value) < FRAME_BYTES or value[0]:
        return ""
    schema_id = int.from_bytes(value[1:FRAME_BYTES])
    return f"; begins as records of a schema registry do (schema id {schema_id}), and no registry is asked"


def _chosen(values: pa.BinaryArray, rows: np.ndarray) -> pa.BinaryArray:
    return values if len(rows) == len(values) else values.take(pa.array(rows))


def rows_in_place(pieces: Sequence[pa.RecordBatch], rows: Sequence[np.ndarray], count: int) -> pa.RecordBatch:
    """The pieces as one batch of so many rows, each where it belongs, nulls where none does."""
    if len(pieces) == 1 and pieces[0].num_rows == count:
        return pieces[0]
    order = np.concatenate([np.arange(0), *rows])
    source_rows = np.full(count, -1)
    source_rows[order] = np.arange(len(order))
    parts = pa.Table.from_batches(list(pieces)).combine_chunks()
    columns = [column.combine_chunks() for column in parts.columns]
    return pa.RecordBatch.from_arrays(columns, schema=parts.schema).take(
        pa.array(source_rows, mask=source_rows < 0)
    )


def _cut(rows: np.ndarray) -> list[np.ndarray]:
    """Many pieces of what is long, halves of what is short."""
    pieces = min(PIECES, len(rows) // BLOCK_RECORDS + 1) if len(rows) > BLOCK_RECORDS else 2
    return np.array_split(rows, pieces)
