"""The newest values of a compacted topic: read once, and from there on only what was added."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.rdkafka.partition_offsets import OffsetLookup
from streamapp_runtime.systems.kafka.rdkafka.rdkafka_reader import RangeReader
from streamapp_runtime.systems.kafka.rdkafka.topics import Topics
from streamapp_runtime.systems.stream_system import UnavailableError

_PAUSE_SECONDS = 0.02
SETTLE_SECONDS = 15.0
"""How long open transactions are waited for. Those of the app itself have been voided before."""


@dataclass(slots=True)
class _StreamCache:
    identity: str
    at: int = 0
    values: dict[bytes, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class LatestValues:
    """Partition 0 of compacted topics, as one process has seen them."""

    offsets: OffsetLookup
    topics: Topics
    reading: RangeReader
    _caches: dict[str, _StreamCache] = field(default_factory=dict)

    def values(self, stream: str, *, settled: bool) -> Mapping[bytes, bytes]:
        """The newest value of every key; see `System.latest`."""
        identity = self.topics.existing(stream).identity
        cache = self._caches.get(stream)
        if cache is None or cache.identity != identity:
            cache = self._caches[stream] = _StreamCache(identity)
        partition = Partition(stream, 0)
        required_end = self.offsets.high_watermarks([partition])[partition] if settled else 0
        ends = time.monotonic() + SETTLE_SECONDS
        for end in self._stable(partition):
            self._read(cache, partition, end)
            if end >= required_end:
                return cache.values
            if time.monotonic() > ends:
                raise UnavailableError(
                    f"{partition} has had a transaction open at {end} for {SETTLE_SECONDS:.0f} s"
                )
            time.sleep(_PAUSE_SECONDS)
        raise AssertionError("ends are told without end")

    def _stable(self, partition: Partition) -> Iterator[int]:
        while True:
            yield self.offsets.stable_ends([partition])[partition]

    def _read(self, cache: _StreamCache, partition: Partition, end: int) -> None:
        if cache.at >= end:
            return
        cache.at = max(cache.at, self.offsets.oldest([partition])[partition])
        for records in self.reading.read(partition, cache.at, end):
            pairs = zip(records.column("key").to_pylist(), records.column("value").to_pylist(), strict=True)
            for key, value in pairs:
                if value is None:
                    cache.values.pop(key, None)
                else:
                    cache.values[key] = value
            cache.at = records.column("offset")[-1].as_py() + 1
        cache.at = end
