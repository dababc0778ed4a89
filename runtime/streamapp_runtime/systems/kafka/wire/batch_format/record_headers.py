"""The headers of records, out of the bytes of their batches and into them."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.rows.byte_columns import byte_lengths
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import (
    Numbers,
    Octets,
    read_varints,
    varint_sizes,
    write_varints,
)
from streamapp_runtime.systems.stream_system import HEADERS, no_headers


def decode_headers(octets: Octets, place: Numbers, end: Numbers) -> pa.ListArray:
    """The headers of each record. `place` is where their numbers stand, `end` where the records end.

    As many steps as the record with the most headers has, each for all records that have so many.
    """
    if not octets[place].any():
        return no_headers(len(place))
    count, place = read_varints(octets, place)
    if (count < 0).any() or (count > (end - place) // 2).any():  # each has two bytes at least
        raise MalformedError("the headers of a record do not end within it")
    offsets = np.append(0, np.cumsum(count))
    borders = np.zeros((4, offsets[-1]), np.int64)  # from where to where each name and value reaches
    null = np.zeros(offsets[-1], bool)
    for number in range(count.max(initial=0)):
        having = np.flatnonzero(count > number)
        at, record_end = offsets[having] + number, end[having]
        name_length, name_from = read_varints(octets, np.minimum(place[having], record_end))
        name_to = _within(name_from, name_length, record_end)
        length, value_from = read_varints(octets, np.minimum(name_to, record_end))
        null[at] = length < 0
        value_to = _within(value_from, np.maximum(length, 0), record_end)
        for border, places in zip(borders, (name_from, name_to, value_from, value_to), strict=True):
            border[at] = places
        place[having] = value_to
    name_from, name_to, value_from, value_to = borders
    names, values = cut_pairs(octets, (name_from, name_to, value_from, value_to), (None, null))
    headers = pa.StructArray.from_arrays([_texts(names), values], fields=list(HEADERS.type.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), headers)


def _within(begin: Numbers, length: Numbers, end: Numbers) -> Numbers:
    """The ends of contents that begin there."""
    to: Numbers = begin + length
    if (length < 0).any() or (to > end).any() or (to < begin).any():
        raise MalformedError("the headers of a record do not end within it")
    return to


def cut_pairs(
    octets: Octets,
    borders: tuple[Numbers, Numbers, Numbers, Numbers],
    nulls: tuple[npt.NDArray[np.bool_] | None, npt.NDArray[np.bool_] | None],
) -> tuple[pa.Array, pa.Array]:
    """Keys and values, or names and values, copied out of the bytes.

    The bytes are taken for one array in which key, what is between, value, what is between follow each other;
    every fourth element is a key.
    """
    size = len(borders[0])
    offsets = np.empty(4 * size + 1, np.int32)
    for number, border in enumerate(borders):
        offsets[number:-1:4] = border
    offsets[-1] = offsets[-2] if size else 0
    parts = pa.BinaryArray.from_buffers(
        pa.binary(), 4 * size, [None, pa.py_buffer(offsets), pa.py_buffer(octets)]
    )
    first = np.arange(size, dtype=np.int32) * 4
    key, value = (
        parts.take(pa.array(first + shift, mask=null)) for shift, null in zip((0, 2), nulls, strict=True)
    )
    return key, value


def _texts(names: pa.BinaryArray) -> pa.StringArray:
    """Names as text. Kafka's own clients write UTF-8; what is none is marked."""
    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([name.decode(errors="replace") for name in names.to_pylist()], pa.string())


MOST_OVERHEAD = 10
"""The bytes of a header beside its name and value, at most; and of the number of a record's headers."""


def encode_headers(headers: pa.ListArray) -> pa.BinaryArray:
    """The bytes that end each record: the number of its headers, and what they are.

    They are taken in turns from one array, as keys and values are.
    """
    each = headers.flatten()
    names, values = each.field("name").cast(pa.binary()).fill_null(b""), each.field("value")
    counts = headers.value_lengths().to_numpy().astype(np.int64)
    count, records = len(each), len(headers)
    null = values.is_null().to_numpy(zero_copy_only=False)
    sizes = (byte_lengths(names), np.where(null, -1, byte_lengths(values)), counts)
    pieces = pa.concat_arrays([names, values.fill_null(b""), *map(_varint_array, sizes)])
    owners = np.repeat(np.arange(records), counts)
    order = np.empty(records + 4 * count, np.int64)
    begin = np.arange(records) + 4 * (np.cumsum(counts) - counts)
    order[begin] = 4 * count + np.arange(records)
    for turn, first in enumerate((2 * count, 0, 3 * count, count)):
        order[owners + 1 + 4 * np.arange(count) + turn] = first + np.arange(count)
    whole = pieces.take(pa.array(order))
    ends = np.frombuffer(whole.buffers()[1], np.int32, len(order) + 1)
    offsets = np.append(ends[begin], ends[-1]).astype(np.int32)
    return pa.BinaryArray.from_buffers(
        pa.binary(), records, [None, pa.py_buffer(offsets), whole.buffers()[2]]
    )


def _varint_array(numbers: Numbers) -> pa.BinaryArray:
    offsets = np.append(0, np.cumsum(varint_sizes(numbers))).astype(np.int32)
    octets = np.zeros(int(offsets[-1]), np.uint8)
    write_varints(octets, offsets[:-1].astype(np.int64), numbers)
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(numbers), [None, pa.py_buffer(offsets), pa.py_buffer(octets)]
    )


def header_sizes(headers: pa.ListArray) -> Numbers:
    """The bytes that the headers of each record take at most."""
    each = headers.flatten()
    sizes = byte_lengths(each.field("name")) + byte_lengths(each.field("value")) + MOST_OVERHEAD
    ends = np.append(0, np.cumsum(headers.value_lengths().to_numpy().astype(np.int64)))
    sums = np.append(0, np.cumsum(sizes))
    most: Numbers = sums[ends[1:]] - sums[ends[:-1]] + MOST_OVERHEAD
    return most
