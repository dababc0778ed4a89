"""Records from Arrow as the batches that a leader takes, without an object for each record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import google_crc32c
import numpy as np
import pyarrow as pa

from streamapp_runtime.rows.byte_columns import byte_count, byte_lengths
from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import CHECKED_FROM, COUNTED_FROM, HEAD
from streamapp_runtime.systems.kafka.wire.batch_format.compression import (
    UNCOMPRESSED,
    Compression,
    CompressionCodec,
)
from streamapp_runtime.systems.kafka.wire.batch_format.record_headers import encode_headers, header_sizes
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Numbers, Octets
from streamapp_runtime.systems.stream_system import has_headers, joined_records

_TRANSACTIONAL = 0x10
_MAGIC = 2
_MOST_OVERHEAD = 30  # bytes of a record beside its key and value
_CHECKED = slice(CHECKED_FROM, None)
_SEQUENCES = 1 << 31  # after the last comes the first


@dataclass(frozen=True, slots=True)
class ProducerIdentity:
    """The writer, and whether it writes in transactions, by which version of their protocol."""

    producer: int
    epoch: int
    transactional: bool = True
    has_epoch_per_transaction: bool = False


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """A batch's records, ready but for what says whose they are and which number they have."""

    records: Octets
    count: int
    base_time: int
    last_time: int
    codec: CompressionCodec

    def stamped(self, identity: ProducerIdentity, sequence: int) -> list[memoryview]:
        """The batch in parts."""
        head = np.zeros(HEAD.size, np.uint8)
        attributes = self.codec | (_TRANSACTIONAL if identity.transactional else 0)
        fields = (
            attributes, self.count - 1, self.base_time, self.last_time,
            identity.producer, identity.epoch, sequence % _SEQUENCES, self.count,
        )  # fmt: skip
        length = HEAD.size - COUNTED_FROM + len(self.records)
        HEAD.pack_into(head.data, 0, 0, length, -1, _MAGIC, 0, *fields)
        checksum = google_crc32c.extend(google_crc32c.value(head[_CHECKED]), self.records)
        HEAD.pack_into(head.data, 0, 0, length, -1, _MAGIC, checksum, *fields)
        return [head.data, self.records.data]


def encode_batches(
    records: pa.RecordBatch, now: int, most: int, compression: Compression = UNCOMPRESSED
) -> Iterator[EncodedBatch]:
    """The records in batches of at most so many bytes, unless one alone takes more.

    Their schema is RECORDS, or that with headers. Records without a time were written `now`.
    """
    for part in _parted(records, most):
        yield from encode_each([part], now, compression)


def encode_each(
    parts: Sequence[pa.RecordBatch], now: int, compression: Compression = UNCOMPRESSED
) -> list[EncodedBatch]:
    """A batch of each of the parts, none of which is empty. What encoding costs is that of one batch."""
    records = joined_records(parts)
    counts = np.array([len(part) for part in parts])
    first = np.cumsum(counts) - counts
    key, value, timestamp, *headers = records.columns
    times = timestamp.fill_null(now).to_numpy()
    numbers = np.arange(len(records)) - np.repeat(first, counts)
    tails = encode_headers(headers[0]) if headers else None
    octets, ends = _written(key, value, tails, times - np.repeat(times[first], counts), numbers)
    end = ends[first + counts - 1].tolist()
    latest = np.maximum.reduceat(times, first).tolist()
    return [
        EncodedBatch(compression.compress(octets[begin:stop]), count, base_time, last_time, compression.codec)
        for begin, stop, count, base_time, last_time in zip(
            [0, *end[:-1]], end, counts.tolist(), times[first].tolist(), latest, strict=True
        )
    ]


def encoded_size(records: pa.RecordBatch) -> int:
    """The bytes that the records take at most as a batch that is not compressed."""
    overhead = HEAD.size + _MOST_OVERHEAD * len(records)
    if has_headers(records):
        overhead += int(header_sizes(records.column(3)).sum())
    return overhead + byte_count(records.column(0)) + byte_count(records.column(1))


def _parted(records: pa.RecordBatch, most: int) -> Iterator[pa.RecordBatch]:
    ends = np.cumsum(_sizes(records))
    first, before = 0, 0
    while first < len(records):
        last = max(int(np.searchsorted(ends, before + most - HEAD.size, "right")), first + 1)
        yield records.slice(first, last - first)
        first, before = last, int(ends[last - 1])


def _sizes(records: pa.RecordBatch) -> Numbers:
    sizes = byte_lengths(records.column(0)) + byte_lengths(records.column(1)) + _MOST_OVERHEAD
    return sizes + header_sizes(records.column(3)) if has_headers(records) else sizes


def _field_lengths(column: pa.Array, lengths: Numbers) -> Numbers:
    """The lengths as a record says them: -1 is null."""
    if not column.null_count:
        return lengths
    return np.where(column.is_null().to_numpy(zero_copy_only=False), -1, lengths)


def _written(
    key: pa.Array, value: pa.Array, headers: pa.BinaryArray | None, times: Numbers, numbers: Numbers
) -> tuple[Octets, Numbers]:
    """The bytes of all records, and where each of them ends.

    Keys, values and `headers` are put between what is written around them by taking all in turns from one
    array. Where there are none their number, which is zero, begins what precedes the next record.
    """
    count = len(times)
    key_size, value_size = byte_lengths(key), byte_lengths(value)
    value_said = _field_lengths(value, value_size)
    inner = [times, numbers, _field_lengths(key, key_size)]
    widths = [varints.varint_sizes(field) for field in inner]
    value_width = varints.varint_sizes(value_said)
    inner_width = widths[0] + widths[1] + widths[2]
    led = headers is None
    tail_size = 1 if headers is None else byte_lengths(headers)
    body = 1 + inner_width + key_size + value_width + value_size + tail_size
    body_width = varints.varint_sizes(body)

    before = _Pieces(np.append(led + 1 + body_width + inner_width, led))  # the last ends the last record
    place = before.begin[:-1] + led
    varints.write_varints(before.octets, place, body)
    place = place + body_width + 1  # the attributes, which are zero
    for field, width in zip(inner, widths, strict=True):
        varints.write_varints(before.octets, place, field)
        place = place + width
    between = _Pieces(value_width)
    varints.write_varints(between.octets, between.begin, value_said)

    tails = [] if headers is None else [headers]
    pieces = pa.concat_arrays([key, between.array(), value, before.array(), *tails])
    firsts = (3 * count, 0, count, 2 * count, 4 * count + 1)[: 4 + len(tails)]
    turns = np.empty(len(firsts) * count + 1, np.int32)
    for turn, first in enumerate(firsts):
        places = turns[turn :: len(firsts)]
        places[:] = np.arange(first, first + len(places))
    whole = pieces.take(pa.array(turns))
    ends = np.cumsum(body + body_width)
    # The first record has none before it.
    return np.frombuffer(whole.buffers()[2], np.uint8, int(ends[-1]), int(led)), ends


class _Pieces:
    """Room for a few bytes of every record, zeros at first."""

    def __init__(self, sizes: Numbers) -> None:
        self._offsets = np.zeros(len(sizes) + 1, np.int32)
        np.cumsum(sizes, out=self._offsets[1:])
        self.begin = self._offsets[:-1].astype(np.int64)
        self.octets = np.zeros(int(self._offsets[-1]), np.uint8)

    def array(self) -> pa.Array:
        buffers = [None, pa.py_buffer(self._offsets), pa.py_buffer(self.octets)]
        return pa.BinaryArray.from_buffers(pa.binary(), len(self.begin), buffers)
