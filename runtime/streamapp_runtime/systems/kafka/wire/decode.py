"""From the batches of an answer to their records."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa

from streamapp_runtime.systems.kafka.wire import varints
from streamapp_runtime.systems.kafka.wire.batches import Batch
from streamapp_runtime.systems.kafka.wire.compression import Codec, decompressed
from streamapp_runtime.systems.kafka.wire.records import Bases, decoded
from streamapp_runtime.systems.kafka.wire.starts import Extents
from streamapp_runtime.systems.kafka.wire.varints import Octets

_AT_ONCE = 32 << 20  # bytes that are decompressed before they are decoded


def decode(octets: Octets, found: Iterable[Batch]) -> Iterator[pa.RecordBatch]:
    """The batches' records, those of neighbours with the same compression at once."""
    for codec, neighbours in groupby(found, lambda batch: batch.codec):
        if codec is Codec.NONE:
            run = list(neighbours)
            begin, end = np.array([batch.begin for batch in run]), np.array([batch.end for batch in run])
            yield _decoded(octets, begin, end, run)
            continue
        for run, parts in _decompressed(octets, neighbours):
            end = np.cumsum([len(part) for part in parts])
            begin = np.append(0, end[:-1])
            yield _decoded(np.concatenate([*parts, np.zeros(varints.PADDING, np.uint8)]), begin, end, run)


def _decompressed(octets: Octets, found: Iterable[Batch]) -> Iterator[tuple[list[Batch], list[Octets]]]:
    """Some batches at a time, and the bytes of each: few bytes may stand for very many."""
    run: list[Batch] = []
    parts: list[Octets] = []
    for batch in found:
        run.append(batch)
        parts.append(decompressed(batch.codec, octets[batch.begin : batch.end]))
        if sum(map(len, parts)) > _AT_ONCE:
            yield run, parts
            run, parts = [], []
    if run:
        yield run, parts


def _decoded(
    octets: Octets, begin: varints.Numbers, end: varints.Numbers, run: Sequence[Batch]
) -> pa.RecordBatch:
    bases = Bases(
        np.array([batch.base for batch in run]),
        np.array([batch.timestamp for batch in run]),
        np.array([batch.appended for batch in run]),
    )
    return decoded(octets, Extents(begin, end, np.array([batch.count for batch in run])), bases)
