"""From the batches of an answer to their records."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa

from streamapp_runtime.systems.kafka.wire import varints
from streamapp_runtime.systems.kafka.wire.batches import Batch
from streamapp_runtime.systems.kafka.wire.compression import Codec, decompressed
from streamapp_runtime.systems.kafka.wire.records import Bases, decoded
from streamapp_runtime.systems.kafka.wire.starts import Extents
from streamapp_runtime.systems.kafka.wire.varints import Octets


def decode(octets: Octets, found: Iterable[Batch]) -> Iterator[pa.RecordBatch]:
    """The batches' records, those of neighbours with the same compression at once."""
    for codec, neighbours in groupby(found, lambda batch: batch.codec):
        run = list(neighbours)
        bases = Bases(
            np.array([batch.base for batch in run]),
            np.array([batch.timestamp for batch in run]),
            np.array([batch.appended for batch in run]),
        )
        count = np.array([batch.count for batch in run])
        if codec is Codec.NONE:
            begin, end = np.array([batch.begin for batch in run]), np.array([batch.end for batch in run])
            yield decoded(octets, Extents(begin, end, count), bases)
            continue
        parts = [decompressed(codec, octets[batch.begin : batch.end]) for batch in run]
        end = np.cumsum([len(part) for part in parts])
        begin = np.append(0, end[:-1])
        whole = np.concatenate([*parts, np.zeros(varints.PADDING, np.uint8)])
        yield decoded(whole, Extents(begin, end, count), bases)
