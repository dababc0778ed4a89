"""The newest values of a compacted topic: read once, and from there on only what was added."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp_runtime.systems.kafka.topics import Topics
from streamapp_runtime.systems.kafka.wire.wire_offsets import WireOffsets
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.stream_system import UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition

_PAUSE_SECONDS = 0.02
SETTLE_SECONDS = 15.0
"""How long open transactions are waited for. Those of the app itself have been voided before."""


@dataclass(slots=True)
class _StreamCache:
    identity: str
    at: int = 0
    least_end: int = 0  # which settled reads have to reach
    values: dict[bytes, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class LatestValues:
    """TopicPartition 0 of compacted topics, as one process has seen them."""

    offsets: WireOffsets
    topics: Topics
    reading: WireReader
    _caches: dict[str, _StreamCache] = field(default_factory=dict)

    def read_up_to(self, stream: str, end: int) -> None:
        """Have each later read that is settled reach an offset, whatever a broker calls the end."""
        self._cache(stream).least_end = end

    def values(self, stream: str, *, settled: bool) -> Mapping[bytes, bytes]:
        """The newest value of every key; see `System.latest`."""
        cache = self._cache(stream)
        partition = TopicPartition(stream, 0)
        # A leader that was deposed, and has not heard of it, names an old end.
        least_end = cache.least_end if settled else 0
        required_end = max(least_end, self._watermark(partition)) if settled else 0
        ends = time.monotonic() + SETTLE_SECONDS
        while True:
            end = self.offsets.stable_ends([partition])[partition]
            self._read(cache, partition, end)
            if end >= required_end:
                return cache.values
            is_deposed = end < least_end and self._watermark(partition) < least_end
            if is_deposed:
                self.offsets.doubt_leader(partition)
            if time.monotonic() > ends:
                reason = (
                    f"the leader of {partition} does not know what was written to it up to {least_end}"
                    if is_deposed
                    else f"{partition} has had a transaction open at {end} for {SETTLE_SECONDS:.0f} s"
                )
                raise UnavailableError(reason)
            time.sleep(_PAUSE_SECONDS)

    def _watermark(self, partition: TopicPartition) -> int:
        return self.offsets.high_watermarks([partition])[partition]

    def _cache(self, stream: str) -> _StreamCache:
        """The cache of a topic; empty for one that was made again under the name."""
        identity = self.topics.existing(stream).identity
        if stream not in self._caches or self._caches[stream].identity != identity:
            self._caches[stream] = _StreamCache(identity)
        return self._caches[stream]

    def _read(self, cache: _StreamCache, partition: TopicPartition, end: int) -> None:
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
