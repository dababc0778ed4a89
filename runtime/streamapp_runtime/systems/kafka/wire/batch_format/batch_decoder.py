"""From the batches of an answer to their records."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import FetchedBatch
from streamapp_runtime.systems.kafka.wire.batch_format.compression import CompressionCodec, decompress
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.record_headers import cut_pairs, decode_headers
from streamapp_runtime.systems.kafka.wire.batch_format.record_starts import BatchExtents, record_starts
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Numbers, Octets
from streamapp_runtime.systems.stream_system import STORED, STORED_WITH_HEADERS


@dataclass(frozen=True, slots=True)
class BatchBases:
    """The values from which each batch's records are counted."""

    offset: Numbers
    last: Numbers  # the largest offset that a record may have
    timestamp: Numbers
    appended: Numbers  # the time of all its records where the broker says it, else -1


def decode_records(
    octets: Octets, extents: BatchExtents, bases: BatchBases, *, headers: bool = False
) -> pa.RecordBatch:
    """All records of some batches, none of them empty (schema STORED); MalformedError where they are none.

    With `headers` their schema is STORED_WITH_HEADERS; else headers are passed over.
    `varints.PADDING` bytes must follow the last batch; what they hold does not matter.
    """
    begin = record_starts(octets, extents)
    count = extents.count
    end = np.append(begin[1:], extents.end[-1:])
    end[np.cumsum(count) - 1] = extents.end
    time, place = varints.read_varints(octets, varints.read_varints(octets, begin)[1] + 1)
    number, place = varints.read_varints(octets, np.minimum(place, end))
    key_from, key_to, no_key = _field(octets, place, end)
    value_from, value_to, no_value = _field(octets, key_to, end)
    if (value_to >= end).any():  # the number of headers still follows
        raise MalformedError("a record's value does not end within it")
    key, value = cut_pairs(octets, (key_from, key_to, value_from, value_to), (no_key, no_value))
    offset = np.repeat(bases.offset, count) + number
    rising = np.diff(offset) > 0
    rising[np.cumsum(count)[:-1] - 1] = True  # the next batch may be of another partition
    if not rising.all() or (offset > np.repeat(bases.last, count)).any():
        raise MalformedError("the records of a batch are not in order")
    columns = [pa.array(offset), key, value, _times(time, bases, count)]
    if not headers:
        return pa.RecordBatch.from_arrays(columns, schema=STORED)
    columns.append(decode_headers(octets, value_to, end))
    return pa.RecordBatch.from_arrays(columns, schema=STORED_WITH_HEADERS)


def _field(
    octets: Octets, place: Numbers, end: Numbers
) -> tuple[Numbers, Numbers, npt.NDArray[np.bool_] | None]:
    """From where to where keys or values reach, and which are null, if any is."""
    length, begin = varints.read_varints(octets, np.minimum(place, end))
    null = None
    if length.min(initial=0) < 0:
        null = length < 0
        length[null] = 0
    to = begin + length
    # Also of lengths so large that the sum has left the numbers.
    if (to > end).any() or (to < begin).any():
        raise MalformedError("a record's key or value does not end within it")
    return begin, to, null


def _times(delta: Numbers, bases: BatchBases, count: Numbers) -> pa.Array:
    """Each record's time; one below zero stands for none."""
    times = np.repeat(bases.timestamp, count) + delta
    if (bases.appended >= 0).any():
        appended = np.repeat(bases.appended, count)
        times = np.where(appended >= 0, appended, times)
    missing = times < 0
    return pa.array(times, mask=missing if missing.any() else None)


_AT_ONCE = 32 << 20  # bytes that are decompressed before they are decoded


def decode_batches(
    octets: Octets, batches: Iterable[FetchedBatch], *, headers: bool = False
) -> Iterator[pa.RecordBatch]:
    """The batches' records, those of neighbours with the same compression at once."""
    for codec, neighbours in groupby(batches, lambda batch: batch.codec):
        if codec is CompressionCodec.NONE:
            run = list(neighbours)
            begin, end = np.array([batch.begin for batch in run]), np.array([batch.end for batch in run])
            yield _decoded(octets, BatchExtents(begin, end, _counts(run)), run, headers)
            continue
        for run, parts in _decompressed(octets, neighbours):
            end = np.cumsum([len(part) for part in parts])
            begin = np.append(0, end[:-1])
            content = np.concatenate([*parts, np.zeros(varints.PADDING, np.uint8)])
            yield _decoded(content, BatchExtents(begin, end, _counts(run)), run, headers)


def decode_partitions(
    octets: Octets, partitions: Sequence[Sequence[FetchedBatch]], *, headers: bool = False
) -> list[list[pa.RecordBatch]]:
    """The records of the batches of each partition, those of all at once.

    An answer has its partitions in an order of its own; records are decoded in the order of their bytes.
    """
    by_partition: list[list[pa.RecordBatch]] = [[] for _ in partitions]
    places = [place for place, batches in enumerate(partitions) if batches]
    places.sort(key=lambda place: partitions[place][0].begin)
    batches = chain.from_iterable(partitions[place] for place in places)
    decoded = decode_batches(octets, batches, headers=headers)
    records: list[pa.RecordBatch] = []  # decoded, and of no partition yet
    for place in places:
        missing = sum(batch.count for batch in partitions[place])
        while missing:
            if not records:
                records = [next(decoded)]
            part = records[0].slice(0, missing)
            by_partition[place].append(part)
            missing -= len(part)
            records = [records[0].slice(len(part))] if len(part) < len(records[0]) else []
    return by_partition


def _decompressed(
    octets: Octets, batches: Iterable[FetchedBatch]
) -> Iterator[tuple[list[FetchedBatch], list[Octets]]]:
    """Some batches at a time, and the bytes of each: few bytes may stand for very many."""
    run: list[FetchedBatch] = []
    parts: list[Octets] = []
    for batch in batches:
        run.append(batch)
        parts.append(decompress(batch.codec, octets[batch.begin : batch.end]))
        if sum(map(len, parts)) > _AT_ONCE:
            yield run, parts
            run, parts = [], []
    if run:
        yield run, parts


def _counts(run: Sequence[FetchedBatch]) -> Numbers:
    return np.array([batch.count for batch in run])


def _decoded(
    octets: Octets, extents: BatchExtents, run: Sequence[FetchedBatch], headers: bool
) -> pa.RecordBatch:
    bases = BatchBases(
        np.array([batch.base for batch in run]),
        np.array([batch.last for batch in run]),
        np.array([batch.timestamp for batch in run]),
        np.array([batch.appended for batch in run]),
    )
    return decode_records(octets, extents, bases, headers=headers)
