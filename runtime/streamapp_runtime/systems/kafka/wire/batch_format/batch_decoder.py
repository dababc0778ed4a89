"""From the batches of an answer to their records."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby

import numpy as np
import pyarrow as pa

from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import FetchedBatch
from streamapp_runtime.systems.kafka.wire.batch_format.compression import CompressionCodec, decompress
from streamapp_runtime.systems.kafka.wire.batch_format.record_decoder import BatchBases, decode_records
from streamapp_runtime.systems.kafka.wire.batch_format.record_starts import BatchExtents
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets

_AT_ONCE = 32 << 20  # bytes that are decompressed before they are decoded


def decode_batches(octets: Octets, batches: Iterable[FetchedBatch]) -> Iterator[pa.RecordBatch]:
    """The batches' records, those of neighbours with the same compression at once."""
    for codec, neighbours in groupby(batches, lambda batch: batch.codec):
        if codec is CompressionCodec.NONE:
            run = list(neighbours)
            begin, end = np.array([batch.begin for batch in run]), np.array([batch.end for batch in run])
            yield _decoded(octets, begin, end, run)
            continue
        for run, parts in _decompressed(octets, neighbours):
            end = np.cumsum([len(part) for part in parts])
            begin = np.append(0, end[:-1])
            yield _decoded(np.concatenate([*parts, np.zeros(varints.PADDING, np.uint8)]), begin, end, run)


def decode_partitions(
    octets: Octets, partitions: Sequence[Sequence[FetchedBatch]]
) -> list[list[pa.RecordBatch]]:
    """The records of the batches of each partition, those of all at once.

    An answer has its partitions in an order of its own; records are decoded in the order of their bytes.
    """
    by_partition: list[list[pa.RecordBatch]] = [[] for _ in partitions]
    places = [place for place, batches in enumerate(partitions) if batches]
    places.sort(key=lambda place: partitions[place][0].begin)
    decoded = decode_batches(octets, chain.from_iterable(partitions[place] for place in places))
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


def _decoded(
    octets: Octets, begin: varints.Numbers, end: varints.Numbers, run: Sequence[FetchedBatch]
) -> pa.RecordBatch:
    bases = BatchBases(
        np.array([batch.base for batch in run]),
        np.array([batch.last for batch in run]),
        np.array([batch.timestamp for batch in run]),
        np.array([batch.appended for batch in run]),
    )
    return decode_records(octets, BatchExtents(begin, end, np.array([batch.count for batch in run])), bases)
