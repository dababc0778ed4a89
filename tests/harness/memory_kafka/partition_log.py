"""A partition as its leader has it: batches, markers, and what it knows of each producer."""

import struct
from collections import deque
from dataclasses import dataclass, field

import google_crc32c

from tests.harness.kafka.plain_batches import Record, record
from tests.harness.memory_kafka.protocol_errors import ProtocolError

_HEAD = struct.Struct(">qiibIhiqqqhii")
_CHECKED_FROM, _COUNTED_FROM, _MAGIC = 21, 12, 2
_TRANSACTIONAL, _CONTROL = 0x10, 0x20
_KNOWN_AGAIN = 5


@dataclass(frozen=True, slots=True)
class LoggedBatch:
    base: int
    last: int
    octets: bytes


@dataclass(slots=True)
class KnownProducer:
    """What a leader knows of a producer: its epoch, its last batches, and what it has open."""

    epoch: int
    batches: deque[tuple[int, int, int]] = field(  # first and last sequence, and the offset
        default_factory=lambda: deque(maxlen=_KNOWN_AGAIN)
    )
    open_from: int | None = None


@dataclass(slots=True)
class PartitionLog:
    batches: list[LoggedBatch] = field(default_factory=list)
    producers: dict[int, KnownProducer] = field(default_factory=dict)
    aborted: list[tuple[int, int, int]] = field(default_factory=list)  # producer, first and last offset
    end: int = 0

    @property
    def stable_end(self) -> int:
        """The offset before which every transaction has ended."""
        starts = [one.open_from for one in self.producers.values() if one.open_from is not None]
        return min(starts, default=self.end)

    def has_open(self, producer: int, epoch: int) -> bool:
        """Whether a producer's transaction is open here."""
        known = self.producers.get(producer)
        return known is not None and known.epoch == epoch and known.open_from is not None

    def append(self, batch: bytes) -> tuple[ProtocolError, int]:
        """Take a batch; an error, or the offset of its first record."""
        (_, length, _, magic, checksum, attributes, delta, _, _, producer, epoch, sequence, count) = (
            _HEAD.unpack_from(batch)
        )
        assert (length, magic, count) == (len(batch) - _COUNTED_FROM, _MAGIC, delta + 1)
        assert google_crc32c.value(batch[_CHECKED_FROM:]) == checksum
        known = self.producers.get(producer)
        if known is None:
            known = KnownProducer(epoch)
        elif epoch < known.epoch:
            return ProtocolError.INVALID_PRODUCER_EPOCH, -1
        elif epoch > known.epoch:
            if sequence:
                return ProtocolError.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
            known = KnownProducer(epoch, open_from=known.open_from)
        else:
            for first, last, base in known.batches:
                if (first, last) == (sequence, sequence + delta):
                    return ProtocolError.NONE, base
            if sequence != (known.batches[-1][1] + 1 if known.batches else 0):
                return ProtocolError.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
        base = self.end
        self.producers[producer] = known
        known.batches.append((sequence, sequence + delta, base))
        if attributes & _TRANSACTIONAL and known.open_from is None:
            known.open_from = base
        self._log(batch, delta)
        return ProtocolError.NONE, base

    def mark(self, producer: int, epoch: int, *, commits: bool) -> None:
        """Write the marker that ends a producer's transaction."""
        known = self.producers.get(producer)
        if known is not None and epoch < known.epoch:
            return
        if known is None or epoch > known.epoch:
            known = KnownProducer(epoch, open_from=known.open_from if known else None)
        if known.open_from is not None and not commits:
            self.aborted.append((producer, known.open_from, self.end))
        known.open_from = None
        self.producers[producer] = known
        content = record(Record(struct.pack(">hh", 0, commits), struct.pack(">hi", 0, 0), 0))
        checked = (
            struct.pack(">hiqqqhii", _TRANSACTIONAL | _CONTROL, 0, 1, 1, producer, epoch, -1, 1) + content
        )
        head = struct.pack(">qiibI", 0, len(checked) + 9, 0, _MAGIC, google_crc32c.value(checked))
        self._log(head + checked, 0)

    def fetch(self, offset: int) -> tuple[bytes, list[tuple[int, int]]]:
        """The batches from an offset on, as far as all is decided, and the transactions that were aborted."""
        stable_end = self.stable_end
        batches = [one for one in self.batches if one.last >= offset and one.base < stable_end]
        aborted = [(producer, first) for producer, first, last in self.aborted if last >= offset]
        return b"".join(one.octets for one in batches), aborted

    def _log(self, batch: bytes, delta: int) -> None:
        self.batches.append(LoggedBatch(self.end, self.end + delta, struct.pack(">q", self.end) + batch[8:]))
        self.end += delta + 1
