"""Ranges of committed records, by the protocol itself."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.systems.kafka.wire.batch_format.batch_decoder import decode_batches, decode_partitions
from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import (
    FetchedBatch,
    committed_batches,
    read_batches,
)
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.requests import error_codes, fetch_request
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import (
    PLAINTEXT,
    BrokerConnection,
    ConnectionSettings,
)
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import UNKNOWN_TOPIC, BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.requests.error_codes import ErrorReaction
from streamapp_runtime.systems.kafka.wire.requests.fetch_request import (
    DEFAULT_LIMITS,
    NO_REPLICA,
    FetchLimits,
    FetchResult,
    FetchStart,
)
from streamapp_runtime.systems.kafka.wire.requests.request_retries import CONNECTION_FAILURES, RequestRetries
from streamapp_runtime.systems.kafka.wire.requests.request_versions import FETCH
from streamapp_runtime.systems.stream_system import OffsetRange, OutOfRangeError, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition

_LEAST = 65_536  # bytes of one fetch
_GUESS = 1024  # bytes of a record before any was seen


@dataclass(frozen=True, slots=True)
class _FetchedAhead:
    """Records that are there before they are read: where they begin, and the offset behind them."""

    start: int
    following: int
    headers: bool
    records: Sequence[pa.RecordBatch]


class WireReader:
    """Reads ranges of partitions; one object per process, used by one thread at a time."""

    def __init__(
        self,
        bootstrap: str,
        settings: ConnectionSettings = PLAINTEXT,
        *,
        limits: FetchLimits = DEFAULT_LIMITS,
        check: bool = True,
        trouble: BrokerTrouble | None = None,
    ) -> None:
        """`check` compares the checksum of every batch; `trouble` is told what keeps reads waiting."""
        self._limits = limits
        self._cluster = BrokerPool(bootstrap, settings, trouble)
        self._check = check
        self._sizes: dict[TopicPartition, float] = {}  # bytes of a record, as last seen
        self._fetched_ahead: dict[TopicPartition, _FetchedAhead] = {}

    def fetch_ahead(self, ranges: Sequence[OffsetRange]) -> None:
        """Ask each leader once for all that fits into an answer; `read` has it then.

        Where that fails nothing is fetched ahead: `read` asks again, and knows what to do.
        """
        self._fetched_ahead.clear()
        requests: list[tuple[BrokerConnection, int, list[OffsetRange]]] = []
        for connection, of_leader in self._by_leader(ranges).items():
            starts = {
                one.partition: FetchStart(one.start, self._fetch_size(one.partition, one.end - one.start))
                for one in of_leader
            }
            try:
                write = fetch_request.fetch_request(starts, rack=self._rack(starts))
                requests.append((connection, connection.send(FETCH, write), of_leader))
            except CONNECTION_FAILURES:
                self._lost(connection, of_leader)
        for connection, number, of_leader in requests:
            try:
                self._take_ahead(connection, number, of_leader)
            except CONNECTION_FAILURES:
                self._lost(connection, of_leader)

    def read(
        self, partition: TopicPartition, start: int, end: int, *, headers: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The committed records with start <= offset < end, in order; see `StreamSystem.read`."""
        attempts = self._cluster.retries(f"reading {partition}")
        at, empty = start, 0
        ahead = self._fetched_ahead.pop(partition, None)
        if ahead is not None and (ahead.start, ahead.headers) == (start, headers):
            at = ahead.following
            yield from _within(ahead.records, start, end)
        pending_fetch: tuple[BrokerConnection, int] | None = None
        while at < end:
            connection = self._cluster.replica(partition, attempts)
            try:
                if (
                    pending_fetch is None
                    or pending_fetch[0] is not connection
                    or not connection.awaits(pending_fetch[1])
                ):
                    pending_fetch = self._send_fetch(connection, partition, at, end)
                answer = connection.receive(pending_fetch[1])
                fetched = fetch_request.fetch_results(answer, [partition])[partition]
                pending_fetch = None
                if fetched.error:
                    self._refused(fetched.error, partition, attempts)
                    continue
                if fetched.throttled:
                    attempts.succeeded()
                    continue
                if fetched.preferred_replica != NO_REPLICA:
                    self._cluster.prefer_replica(partition, fetched.preferred_replica)
                    continue
                batches = list(read_batches(fetched.octets, fetched.begin, fetched.end, check=self._check))
                if not batches:
                    empty += 1
                    at = self._after_nothing(fetched, partition, (at, end), empty, attempts)
                    continue
                following, empty = batches[-1].last + 1, 0
                if following <= at:
                    raise MalformedError("a leader gave records from before those that were asked for")
                self._measure(partition, batches)
                if following < end:  # asked before decoding, so that the broker works meanwhile
                    pending_fetch = self._send_fetch(connection, partition, following, end)
                batches_in_range = [batch for batch in batches if batch.last >= start and batch.base < end]
                # All of it, because the next answer takes the place of this one.
                committed = committed_batches(batches_in_range, fetched.aborted, fetched.octets)
                record_batches = list(decode_batches(fetched.octets, committed, headers=headers))
            except CONNECTION_FAILURES as error:
                self._cluster.lost(connection)
                self._cluster.forget(partition)
                attempts.failed(error)
                pending_fetch = None
                continue
            at = following  # only now: what could not be asked for or decoded is fetched again
            attempts.succeeded()
            yield from _within(record_batches, start, end)

    def close(self) -> None:
        """Let go of all connections."""
        self._cluster.close()

    def _send_fetch(
        self, connection: BrokerConnection, partition: TopicPartition, at: int, end: int
    ) -> tuple[BrokerConnection, int]:
        start = FetchStart(at, min(self._fetch_size(partition, end - at), self._limits.answer))
        write = fetch_request.fetch_request({partition: start}, rack=self._rack([partition]))
        return connection, connection.send(FETCH, write)

    def _rack(self, partitions: Collection[TopicPartition]) -> str:
        """The rack to name, for replicas in it; none while one of them is avoided."""
        return self._limits.rack if self._cluster.may_name_replicas(partitions) else ""

    def _fetch_size(self, partition: TopicPartition, records: int) -> int:
        """About how many bytes so many records take."""
        size = int(records * self._sizes.get(partition, _GUESS) * 1.1) + _LEAST
        return min(size, self._limits.partition)

    def _by_leader(self, ranges: Sequence[OffsetRange]) -> dict[BrokerConnection, list[OffsetRange]]:
        """The ranges that one answer of each broker has room for."""
        by_leader: defaultdict[BrokerConnection, list[OffsetRange]] = defaultdict(list)
        room: defaultdict[BrokerConnection, int] = defaultdict(lambda: self._limits.answer)
        for one in ranges:
            size = self._fetch_size(one.partition, one.end - one.start)
            attempts = self._cluster.retries(f"reading {one.partition}")
            leader = self._cluster.replica(one.partition, attempts)
            if size <= room[leader]:
                room[leader] -= size
                by_leader[leader].append(one)
        return by_leader

    def _take_ahead(self, connection: BrokerConnection, number: int, ranges: Sequence[OffsetRange]) -> None:
        """Decode what a leader answered, all of it at once."""
        partitions = [one.partition for one in ranges]
        results = fetch_request.fetch_results(connection.receive(number), partitions)
        octets = next(iter(results.values())).octets  # one answer has them all
        chosen: list[tuple[OffsetRange, int, list[FetchedBatch]]] = []
        for one in ranges:
            fetched = results[one.partition]
            if fetched.preferred_replica != NO_REPLICA:
                self._cluster.prefer_replica(one.partition, fetched.preferred_replica)
            if fetched.error:
                continue
            batches = list(read_batches(octets, fetched.begin, fetched.end, check=self._check))
            if not batches or batches[-1].last < one.start:
                continue
            self._measure(one.partition, batches)
            in_range = [batch for batch in batches if batch.last >= one.start and batch.base < one.end]
            committed = list(committed_batches(in_range, fetched.aborted, octets))
            chosen.append((one, batches[-1].last + 1, committed))
        for headers in (False, True):
            alike = [each for each in chosen if each[0].headers is headers]
            decoded = decode_partitions(octets, [committed for *_, committed in alike], headers=headers)
            for (one, following, _), records in zip(alike, decoded, strict=True):
                self._fetched_ahead[one.partition] = _FetchedAhead(one.start, following, headers, records)

    def _lost(self, connection: BrokerConnection, ranges: Sequence[OffsetRange]) -> None:
        self._cluster.lost(connection)
        for one in ranges:
            self._cluster.forget(one.partition)

    def _refused(self, error: int, partition: TopicPartition, attempts: RequestRetries) -> None:
        if self._cluster.avoid_replica(partition):
            return  # the leader knows better
        if error == UNKNOWN_TOPIC:  # to this broker; whether to all says the look for the leader
            attempts.failed(error_codes.error_name(error))
            self._cluster.forget(partition)
        elif attempts.refused(error) is ErrorReaction.LOOK:
            self._cluster.forget(partition)

    def _after_nothing(
        self,
        fetched: FetchResult,
        partition: TopicPartition,
        span: tuple[int, int],
        times: int,
        attempts: RequestRetries,
    ) -> int:
        """The offset at which to go on when nothing came."""
        at, end = span
        if fetched.end - fetched.begin >= _LEAST:
            raise MalformedError("a batch is cut off that should have come whole")
        if fetched.stable_end >= end:
            # Compaction may have left nothing at all up to there. Asked twice, for no answer need be full.
            return end if times > 1 else at
        if not self._cluster.leave_replica(partition):
            # A new leader may take a moment to know how far its followers are; a deposed one never does.
            self._cluster.doubt_leader(partition)
            try:
                attempts.failed(f"it ends at {fetched.stable_end}")
            except UnavailableError:
                raise OutOfRangeError(
                    f"{partition} ends at {fetched.stable_end}; asked for were records up to {end}"
                ) from None
        return at

    def _measure(self, partition: TopicPartition, batches: Sequence[FetchedBatch]) -> None:
        offsets = batches[-1].last + 1 - batches[0].base
        self._sizes[partition] = max((batches[-1].end - batches[0].begin) / offsets, 1.0)


def _within(batches: Sequence[pa.RecordBatch], start: int, end: int) -> Iterator[pa.RecordBatch]:
    """The records of the range, batch by batch."""
    for records in batches:
        first, last = np.searchsorted(records.column(0).to_numpy(), [start, end]).tolist()
        if first < last:
            yield records.slice(first, last - first)
