"""Waits for records without asking again and again: leaders answer once there are some.

Each leader has one Fetch of all of its partitions before it, from where they ended. It answers when records
were committed behind that, or when its time is over. An answer has the first batch of records at least, which
is read by nobody: they are fetched again by the lane that they are for.
"""

import select
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from streamapp_runtime.systems.kafka.wire.requests import fetch_request
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import BrokerConnection
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.fetch_request import FetchStart
from streamapp_runtime.systems.kafka.wire.requests.request_retries import CONNECTION_FAILURES
from streamapp_runtime.systems.kafka.wire.requests.request_versions import FETCH
from streamapp_runtime.systems.stream_system import HasFileno, UnavailableError, UnknownStreamError
from streamapp_runtime.systems.topic_partition import TopicPartition

_LEAST_SECONDS = 0.001
_LATE_SECONDS = 1.0
"""How long after its time a leader may answer. One that is stopped, or cut off, never does."""
_LEADER_SECONDS = 1.0
"""How long a leader is looked for. The look for records that follows is more patient."""


@dataclass(frozen=True, slots=True)
class _PendingFetch:
    """A request that a leader has before it."""

    number: int
    partitions: tuple[TopicPartition, ...]
    late_at: float


class WireArrivals:
    """One object per process, with connections of its own, used by one thread at a time."""

    def __init__(self, cluster: BrokerPool) -> None:
        self._cluster = cluster
        self._pending: dict[BrokerConnection, _PendingFetch] = {}

    def wait(self, ends: Mapping[TopicPartition, int], seconds: float, wake: HasFileno | None) -> bool:
        """See `StreamSystem.await_records`."""
        deadline = time.monotonic() + seconds
        try:
            while (left := deadline - time.monotonic()) > _LEAST_SECONDS:
                self._ask(ends, left)
                if self._have_answered(left, wake, ends):
                    return True
        except (*CONNECTION_FAILURES, UnavailableError, UnknownStreamError):
            self._start_again(ends)  # the look that follows says what is wrong
            return False
        return True

    def close(self) -> None:
        """Let go of all connections."""
        self._pending.clear()
        self._cluster.close()

    def _start_again(self, partitions: Collection[TopicPartition]) -> None:
        """Believe nothing any more of who leads these partitions, and of any connection."""
        self.close()
        for partition in partitions:
            self._cluster.forget(partition)

    def _have_answered(
        self, seconds: float, wake: HasFileno | None, ends: Mapping[TopicPartition, int]
    ) -> bool:
        """Wait for an answer; whether one says that there are records, or `wake` can be read."""
        poll = select.poll()  # `select.select` takes no file of a number beyond 1,023
        connections = {connection.fileno(): connection for connection in self._pending}
        for number in [*connections, *([wake.fileno()] if wake else [])]:
            poll.register(number, select.POLLIN)
        readable = {number for number, _ in poll.poll(1000 * seconds)}
        has_records = wake is not None and wake.fileno() in readable
        for number in readable & connections.keys():
            has_records |= self._has_records(connections[number], ends)
        if any(time.monotonic() > fetch.late_at for fetch in self._pending.values()):
            raise UnavailableError("a leader does not answer")
        return has_records

    def _ask(self, ends: Mapping[TopicPartition, int], seconds: float) -> None:
        """Have each leader of these partitions say when there is more; one that was asked is not again."""
        attempts = self._cluster.retries("waiting for records", _LEADER_SECONDS)
        by_leader = self._cluster.by_leader(ends, attempts)
        for connection in self._pending.keys() - by_leader.keys():
            self._cluster.lost(connection)
            del self._pending[connection]
        for connection, partitions in by_leader.items():
            if connection not in self._pending:
                starts = {partition: FetchStart(ends[partition], 1) for partition in partitions}
                write = fetch_request.fetch_request(starts, int(1000 * seconds))
                number = connection.send(FETCH, write, _LEADER_SECONDS)
                late_at = time.monotonic() + seconds + _LATE_SECONDS
                self._pending[connection] = _PendingFetch(number, tuple(partitions), late_at)

    def _has_records(self, connection: BrokerConnection, ends: Mapping[TopicPartition, int]) -> bool:
        """True if a partition goes on, by a leader's answer; one asked earlier may say what is known."""
        fetch = self._pending.pop(connection)
        results = fetch_request.fetch_results(connection.receive(fetch.number), fetch.partitions)
        if any(result.error for result in results.values()):
            raise UnavailableError("a leader does not answer for what it was asked")
        return any(
            result.stable_end > ends[partition] for partition, result in results.items() if partition in ends
        )
