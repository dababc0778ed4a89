"""The columns that rows have of their records beside the values. A tombstone has null in each of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.record_fields import RecordField
from streamapp_runtime.formats.arrow_types import arrow_type
from streamapp_runtime.lanes.records.key_check import TOMBSTONE
from streamapp_runtime.operators.stateless.stream_operations import Read
from streamapp_runtime.rows.byte_columns import null_mask
from streamapp_runtime.systems.stream_system import HEADERS

KEY_COLUMNS: Final = "keyColumns"
"""The column of decoded records that holds the parts of the keys that the stream names columns for."""


@dataclass(frozen=True, slots=True)
class _ReadRecords:
    """Records, and where each was read."""

    records: pa.RecordBatch
    topic: str
    partitions: npt.NDArray[np.int64]


def with_metadata(
    read: Read, columns: pa.RecordBatch, records: pa.RecordBatch, partitions: npt.NDArray[np.int64]
) -> pa.RecordBatch:
    """The columns of the values, behind them those of the keys, and those of the records that are named."""
    if not read.metadata and not read.key_columns:
        return columns
    read_records, tombstone = _ReadRecords(records, read.topic, partitions), records.column(TOMBSTONE)
    arrays, fields = list(columns.columns), list(columns.schema)
    added = list(records.column(KEY_COLUMNS).flatten()) if read.key_columns else []
    added += [_COLUMNS[field](read_records) for field in read.metadata]
    for array, column in zip(added, read.columns[len(read.value_columns) :], strict=True):
        kind = arrow_type(column.type)
        held = array.cast(kind)
        if tombstone.true_count:
            held = pc.if_else(tombstone, pa.scalar(None, kind), held)
        arrays.append(held)
        fields.append(pa.field(column.name, kind))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def unreadable_keys(read: Read, records: pa.RecordBatch) -> dict[int, str]:
    """Faults of keys that a column is to hold as text, by the record's place."""
    keys = records.column("key")
    if RecordField.KEY not in read.metadata or not _key_is_text(read) or _is_utf8(keys):
        return {}
    reason = "its key is no valid UTF-8; say metadata.keyFormat: bytes, or fix the producer"
    return {place: reason for place in range(len(keys)) if not _is_utf8(keys.slice(place, 1))}


def _key_is_text(read: Read) -> bool:
    column = read.metadata_columns[read.metadata.index(RecordField.KEY)]
    return column.type == "STRING"


def _is_utf8(keys: pa.BinaryArray) -> bool:
    try:
        keys.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def _times(of: _ReadRecords) -> pa.Array:
    return of.records.column("timestamp").cast(pa.timestamp("ms", "UTC"))


def _topics(of: _ReadRecords) -> pa.Array:
    return pa.repeat(pa.scalar(of.topic), len(of.records))


def _headers(of: _ReadRecords) -> pa.Array:
    """A map of each record's headers. A map has each name once: the last value that a name has."""
    headers = of.records.column("headers")
    each = headers.flatten()
    counts = headers.value_lengths().to_numpy()
    names, values = each.field("name"), each.field("value")
    owners = np.repeat(np.arange(len(headers)), counts)
    codes = names.dictionary_encode().indices.to_numpy().astype(np.int64)
    named = owners * (codes.max(initial=0) + 1) + codes
    _, from_end = np.unique(named[::-1], return_index=True)
    if len(from_end) < len(named):
        last_places = np.sort(len(named) - 1 - from_end)
        places = pa.array(last_places)
        names, values = names.take(places), values.take(places)
        counts = np.bincount(owners[last_places], minlength=len(headers))
    offsets = np.append(0, np.cumsum(counts)).astype(np.int32)
    return pa.MapArray.from_arrays(pa.array(offsets), names, values)


def listed_headers(column: pa.Array) -> pa.Array:
    """The headers that a column holds as a map or as a list; a record where it is null has none."""
    bounds = np.asarray(column.offsets).astype(np.int64)
    counts = np.where(null_mask(column), 0, np.diff(bounds))
    offsets = np.append(0, np.cumsum(counts))
    places = pa.array(np.arange(offsets[-1]) + np.repeat(bounds[:-1] - offsets[:-1], counts))
    is_map = pa.types.is_map(column.type)
    names, values = (column.keys, column.items) if is_map else column.values.flatten()
    pairs = [names.take(places).fill_null(""), values.take(places)]
    each = pa.StructArray.from_arrays(pairs, fields=list(HEADERS.type.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), each)


_COLUMNS: Final[Mapping[RecordField, Callable[[_ReadRecords], pa.Array]]] = {
    RecordField.KEY: lambda of: of.records.column("key"),
    RecordField.TIMESTAMP: _times,
    RecordField.PARTITION: lambda of: pa.array(of.partitions, pa.int32()),
    RecordField.OFFSET: lambda of: of.records.column("offset"),
    RecordField.TOPIC: _topics,
    RecordField.HEADERS: _headers,
    RecordField.HEADER_LIST: lambda of: of.records.column("headers"),
}
if _COLUMNS.keys() != set(RecordField):
    raise AssertionError("each field of a record has its column")
