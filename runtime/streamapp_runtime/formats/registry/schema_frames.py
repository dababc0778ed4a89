"""The frames of a schema registry: what stands before a value, or in a header, and names its schema.

| frame | schema |
| --- | --- |
| 0x00 and four bytes | the number that it has in one registry |
| 0x01 and sixteen bytes | the id that it has in all |

A header has the same bytes. Where there is one, nothing stands before the value.
"""

from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.registered_schema import SchemaId
from streamapp_runtime.rows.byte_columns import ByteSpans, numbers
from streamapp_runtime.rows.row_form import Bytes, Positions

VALUE_HEADER: Final = "__value_schema_id"
KEY_HEADER: Final = "__key_schema_id"
_SIZES: Final = {0: 5, 1: 17}  # of a frame, by its first byte
_PADDING: Final = max(_SIZES.values())


class FramedRecords(NamedTuple):
    """The records of one schema: their places in the batch, and where each begins behind its frame."""

    schema_id: SchemaId
    rows: Positions
    starts: Positions


class UnframedRecords(NamedTuple):
    """The groups of records that have a frame, and what is wrong with the others."""

    groups: list[FramedRecords]
    faults: dict[int, str]


def numbered_frame(schema_id: int) -> bytes:
    """The frame before the value of a record that is written."""
    return b"\0" + schema_id.to_bytes(4)


def split_frames(spans: ByteSpans, rows: Positions) -> UnframedRecords:
    """The values of these rows by the schemas that their frames name."""
    data = np.concatenate([spans.data, np.zeros(_PADDING, np.uint8)])
    starts, ends = spans.bounds[:-1][rows], spans.bounds[1:][rows]
    first = data[starts]
    faults: dict[int, str] = {}
    groups: list[FramedRecords] = []
    framed = np.zeros(len(rows), bool)
    for magic, size in _SIZES.items():
        places = np.flatnonzero((first == magic) & (ends - starts >= size))
        framed[places] = True
        if len(places):
            groups += _by_schema(data, starts[places] + 1, size - 1, rows[places])
    for place in np.flatnonzero(~framed).tolist():
        faults[int(rows[place])] = _fault(int(ends[place] - starts[place]), int(first[place]))
    return UnframedRecords(groups, faults)


def _by_schema(data: Bytes, at: Positions, size: int, rows: Positions) -> list[FramedRecords]:
    """The groups of records whose frames say the same; `at` is behind the first byte."""
    kind = ">u4" if size == 4 else f"V{size}"
    names, owners = np.unique(numbers(data, at, kind), return_inverse=True)
    return [
        FramedRecords(
            int(name) if size == 4 else UUID(bytes=name.tobytes()),
            rows[owners == number],
            at[owners == number] + size,
        )
        for number, name in enumerate(names)
    ]


def _fault(size: int, first: int) -> str:
    if not size:
        return "it is empty, and has no frame of a schema registry"
    if first in _SIZES:
        return f"it ends within its frame of a schema registry, after {size} bytes"
    return f"it has no frame of a schema registry: it begins with the byte 0x{first:02x}"


def with_header_frames(
    values: pa.BinaryArray, headers: pa.ListArray, header: str = VALUE_HEADER
) -> pa.BinaryArray:
    """The values or keys behind the frames that stand in headers, where records have such a header."""
    entries = headers.flatten()
    frames = np.flatnonzero(np.asarray(entries.field("name").to_numpy(zero_copy_only=False) == header))
    if not len(frames):
        return values
    owners = np.repeat(np.arange(len(headers)), headers.value_lengths().fill_null(0).to_numpy())
    of_row = np.full(len(headers), -1)
    of_row[owners[frames]] = frames  # of a header that stands twice the last one counts
    chosen = entries.field("value").take(pa.array(of_row, mask=of_row < 0)).fill_null(b"")
    return pc.binary_join_element_wise(chosen, values, b"")
