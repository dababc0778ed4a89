"""Ranges of committed records, by the protocol itself."""

import time
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.wire.batch_format.batch_decoder import decode_batches
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
    ConnectionSecurity,
)
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import UNKNOWN_TOPIC, BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.error_codes import ErrorReaction
from streamapp_runtime.systems.kafka.wire.requests.fetch_request import FetchResult
from streamapp_runtime.systems.kafka.wire.requests.request_retries import CONNECTION_FAILURES, RequestRetries
from streamapp_runtime.systems.stream_system import OutOfRangeError, UnavailableError

_LEAST, _MOST = 65_536, 8 << 20  # bytes of one fetch
_GUESS = 1024  # bytes of a record before any was seen


class WireReader:
    """Reads ranges of partitions; one object per process, used by one thread at a time."""

    def __init__(
        self,
        bootstrap: str,
        security: ConnectionSecurity = PLAINTEXT,
        *,
        check: bool = True,
    ) -> None:
        """`check` compares the checksum of every batch."""
        self._cluster = BrokerPool(bootstrap, security)
        self._timeout = security.timeout
        self._check = check
        self._sizes: dict[Partition, float] = {}  # bytes of a record, as last seen

    def read(self, partition: Partition, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The committed records (schema STORED) with start <= offset < end, in order."""
        attempts = RequestRetries(f"reading {partition}", self._timeout)
        at, empty = start, 0
        pending_fetch: tuple[BrokerConnection, int] | None = None
        while at < end:
            connection = self._cluster.leader(partition, attempts)
            try:
                if (
                    pending_fetch is None
                    or pending_fetch[0] is not connection
                    or not connection.awaits(pending_fetch[1])
                ):
                    pending_fetch = self._send_fetch(connection, partition, at, end)
                fetched = fetch_request.fetch_result(connection.receive(pending_fetch[1]))
                pending_fetch = None
                if fetched.error:
                    self._refused(fetched.error, partition, attempts)
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
                record_batches = list(
                    decode_batches(
                        fetched.octets, committed_batches(batches_in_range, fetched.aborted, fetched.octets)
                    )
                )
            except CONNECTION_FAILURES as error:
                self._cluster.lost(connection)
                self._cluster.forget(partition)
                attempts.failed(error)
                pending_fetch = None
                continue
            at = following  # only now: what could not be asked for or decoded is fetched again
            attempts.succeeded()
            for records in record_batches:
                if len(within := _within(records, start, end)):
                    yield within

    def close(self) -> None:
        """Let go of all connections."""
        self._cluster.close()

    def _send_fetch(
        self, connection: BrokerConnection, partition: Partition, at: int, end: int
    ) -> tuple[BrokerConnection, int]:
        size = int((end - at) * self._sizes.get(partition, _GUESS) * 1.1) + _LEAST
        return connection, connection.send(
            *fetch_request.FETCH, fetch_request.fetch_request(partition, at, min(size, _MOST))
        )

    def _refused(self, error: int, partition: Partition, attempts: RequestRetries) -> None:
        if error == UNKNOWN_TOPIC:  # to this broker; whether to all says the look for the leader
            attempts.failed(error_codes.error_name(error))
            self._cluster.forget(partition)
        elif attempts.refused(error) is ErrorReaction.LOOK:
            self._cluster.forget(partition)

    def _after_nothing(
        self,
        fetched: FetchResult,
        partition: Partition,
        span: tuple[int, int],
        times: int,
        attempts: RequestRetries,
    ) -> int:
        """Where to go on when nothing came."""
        at, end = span
        if fetched.throttled:
            time.sleep(fetched.throttled / 1000)
        elif fetched.end - fetched.begin >= _LEAST:
            raise MalformedError("a batch is cut off that should have come whole")
        elif fetched.stable_end >= end:
            # Compaction may have left nothing at all up to there. Asked twice, for no answer need be full.
            return end if times > 1 else at
        else:  # a new leader may take a moment to know how far its followers are
            try:
                attempts.failed(f"it ends at {fetched.stable_end}")
            except UnavailableError:
                raise OutOfRangeError(
                    f"{partition} ends at {fetched.stable_end}; asked for were records up to {end}"
                ) from None
        return at

    def _measure(self, partition: Partition, batches: Sequence[FetchedBatch]) -> None:
        offsets = batches[-1].last + 1 - batches[0].base
        self._sizes[partition] = max((batches[-1].end - batches[0].begin) / offsets, 1.0)


def _within(records: pa.RecordBatch, start: int, end: int) -> pa.RecordBatch:
    """Those of the range."""
    offsets = records.column(0).to_numpy()
    first, last = np.searchsorted(offsets, [start, end]).tolist()
    return records.slice(first, last - first)
