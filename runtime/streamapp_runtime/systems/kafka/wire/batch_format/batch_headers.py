"""The batches that a fetch brings: what their heads say, and which of them are to be read."""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import google_crc32c

from streamapp_runtime.systems.kafka.wire.batch_format.compression import CompressionCodec
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets

HEAD = struct.Struct(">qiibIhiqqqhii")
CHECKED_FROM = 21
"""The checksum is of all bytes from here on."""
COUNTED_FROM = 12
"""A batch's length is that of all bytes from here on."""

_MAGIC = 2
_ABORT = 0
_CODEC_BITS, _APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20


@dataclass(frozen=True, slots=True)
class FetchedBatch:
    """One batch of a partition, and where its records lie in the answer."""

    base: int
    last: int  # the offset after which the next batch may begin
    begin: int
    end: int
    count: int
    codec: CompressionCodec
    timestamp: int
    appended: int  # the time of all its records where the broker says it, else -1
    producer: int
    transactional: bool
    control: bool


@dataclass(frozen=True, slots=True)
class AbortedTransaction:
    """A transaction that came to nothing: its producer, and its first offset in the partition."""

    producer: int
    first: int


def read_batches(octets: Octets, begin: int, end: int, *, check: bool) -> Iterator[FetchedBatch]:
    """The whole batches within the bytes; a last one that was cut off is left out."""
    least = 0
    while end - begin >= HEAD.size:
        (
            base, length, _, magic, checksum, attributes, delta,
            timestamp, latest, producer, _, _, count,
        ) = HEAD.unpack_from(octets.data, begin)  # fmt: skip
        if magic != _MAGIC:
            raise MalformedError("a batch is of a form from before Kafka 0.11")
        stop = begin + COUNTED_FROM + length
        if length < HEAD.size - COUNTED_FROM or count < 0 or delta < 0 or base < 0:
            raise MalformedError("the head of a batch makes no sense")
        if stop > end:
            return
        if base < least:
            raise MalformedError("the batches of a partition are not in order")
        least = base + delta + 1
        if check and google_crc32c.value(octets[begin + CHECKED_FROM : stop]) != checksum:
            raise MalformedError("a batch was altered on its way: its checksum does not fit")
        if (attributes & _CODEC_BITS) > CompressionCodec.ZSTD:
            raise MalformedError("a batch is compressed in a way that is not known")
        yield FetchedBatch(
            base=base,
            last=base + delta,
            begin=begin + HEAD.size,
            end=stop,
            count=count,
            codec=CompressionCodec(attributes & _CODEC_BITS),
            timestamp=timestamp,
            appended=latest if attributes & _APPEND_TIME else -1,
            producer=producer,
            transactional=bool(attributes & _TRANSACTIONAL),
            control=bool(attributes & _CONTROL),
        )
        begin = stop


def committed_batches(
    batches: Iterable[FetchedBatch], aborted: Sequence[AbortedTransaction], octets: Octets
) -> Iterator[FetchedBatch]:
    """Those that hold records to be read: no markers, and nothing of a transaction that was aborted."""
    later_aborts = sorted(aborted, key=lambda each: each.first, reverse=True)
    aborted_producers: set[int] = set()
    for batch in batches:
        while later_aborts and later_aborts[-1].first <= batch.last:
            aborted_producers.add(later_aborts.pop().producer)
        if batch.control:
            if batch.producer in aborted_producers and _is_abort(octets, batch):
                aborted_producers.discard(batch.producer)
        elif not (batch.transactional and batch.producer in aborted_producers) and batch.count:
            yield batch


def _is_abort(octets: Octets, batch: FetchedBatch) -> bool:
    """True if a marker ends its transaction by dropping it."""
    at = _after_number(octets, batch.begin) + 1  # its length, its attributes
    for _ in ("time", "number", "length of the key"):
        at = _after_number(octets, at)
    kind: int = struct.unpack_from(">hh", octets.data, at)[1]
    return kind == _ABORT


def _after_number(octets: Octets, at: int) -> int:
    while octets[at] & 0x80:
        at += 1
    return at + 1
