"""Headers of W3C's by which a trace goes on, from records to what is made of them.

A row knows the record that it comes of. So rows carry no headers through operations: these are looked up by
that record where the row is written, and rows that come of no single record have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.lanes.records.metadata_columns import listed_headers
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.systems.stream_system import HEADERS

TRACE_HEADERS: Final = ("traceparent", "tracestate", "baggage")
"""The names of Trace Context and of Baggage, as these write them."""
_NAMES: Final = pa.array(TRACE_HEADERS)


@dataclass(frozen=True, slots=True)
class TraceHeaders:
    """The headers of traces that some records of a batch have."""

    places: pa.FixedSizeBinaryArray  # of the records: which range of the lane's order, and the offset
    headers: pa.ListArray


def trace_headers(records: pa.RecordBatch, sources: npt.NDArray[np.int32]) -> TraceHeaders | None:
    """Those of records that were read in these ranges; None where none has any."""
    headers = records.column(HEADERS.name)
    each = headers.flatten()
    entries = np.flatnonzero(pc.is_in(each.field("name"), _NAMES)) if len(each) else ()
    if not len(entries):
        return None
    owners = np.repeat(np.arange(len(headers)), headers.value_lengths().to_numpy())[entries]
    numbers, starts = np.unique(owners, return_index=True)
    offsets = pa.array(np.append(starts, len(entries)).astype(np.int32))
    places = _places(sources[numbers], records.column("offset").to_numpy()[numbers])
    return TraceHeaders(places, pa.ListArray.from_arrays(offsets, each.take(pa.array(entries))))


def passed_headers(traces: Sequence[TraceHeaders], rows: Slice) -> pa.ListArray | None:
    """The headers of the records that rows come of; None where none has any."""
    if not traces:
        return None
    known_places = pa.concat_arrays([one.places for one in traces])
    row_places = _places(rows.source.to_numpy(), rows.offset.to_numpy())
    numbers = pc.index_in(row_places, value_set=known_places)
    if numbers.null_count == len(numbers):
        return None
    return listed_headers(pa.concat_arrays([one.headers for one in traces]).take(numbers))


def _places(sources: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> pa.FixedSizeBinaryArray:
    pairs = np.stack([sources.astype(np.int64), offsets], axis=1)
    return pa.Array.from_buffers(pa.binary(16), len(pairs), [None, pa.py_buffer(pairs)])
