"""The brokers of a cluster: who leads a partition, who keeps a transaction, and a connection to each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from streamapp_runtime.systems.kafka.wire.requests.broker_connection import (
    BrokerAddress,
    BrokerConnection,
    ConnectionSettings,
)
from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.requests.error_codes import error_name
from streamapp_runtime.systems.kafka.wire.requests.request_fields import (
    RequestBody,
    ResponseReader,
    WriteRequest,
)
from streamapp_runtime.systems.kafka.wire.requests.request_retries import CONNECTION_FAILURES, RequestRetries
from streamapp_runtime.systems.kafka.wire.requests.request_versions import (
    FIND_COORDINATOR,
    METADATA,
    BrokerRequest,
    ClusterFeatures,
)
from streamapp_runtime.systems.stream_system import DeniedError
from streamapp_runtime.systems.topic_partition import TopicPartition

T = TypeVar("T")

UNKNOWN_TOPIC = 3
_NOBODY = -1  # as brokers say that a partition has no leader
_AVOIDED_SECONDS = 30.0
"""How long a partition is read from its leader alone after a replica failed."""
_LIVENESS_SECONDS = 0.5
"""How long another broker may take to say whether one that is silent still belongs to the cluster."""


def parse_addresses(bootstrap: str) -> list[BrokerAddress]:
    """The brokers that a setting such as `a:9092,[::1]:9093` names."""
    addresses = []
    for part in bootstrap.split(","):
        host, _, port = part.strip().rpartition(":")
        addresses.append(BrokerAddress(host.removeprefix("[").removesuffix("]"), int(port)))
    return addresses


@dataclass(frozen=True, slots=True)
class _Topic:
    error: int
    name: str | None
    leaders: dict[int, tuple[int, int]]  # of each partition: an error, and the leader


class BrokerPool:
    """The brokers, as one process knows them. A connection that failed is given up with `lost`."""

    def __init__(
        self, bootstrap: str, settings: ConnectionSettings, trouble: BrokerTrouble | None = None
    ) -> None:
        self._trouble = trouble or BrokerTrouble()
        self._bootstrap = parse_addresses(bootstrap)
        self._settings = settings
        self._network = settings.network
        self._addresses: dict[int, BrokerAddress] = {}
        self._leaders: dict[TopicPartition, int] = {}
        self._replicas: dict[TopicPartition, int] = {}  # that leaders have named to be read from
        self._avoided_until: dict[TopicPartition, float] = {}  # the time until which no replica is read
        self._connections: dict[BrokerAddress, BrokerConnection] = {}
        self._failed: BrokerAddress | None = None

    def retries(self, doing: str, seconds: float | None = None) -> RequestRetries:
        """One thing that is done, and done again for so long; for as long as anything may take as it is."""
        return RequestRetries(doing, self._settings.timeout if seconds is None else seconds, self._network)

    def leader(self, partition: TopicPartition, attempts: RequestRetries) -> BrokerConnection:
        """A connection to who leads the partition."""
        while True:
            try:
                if partition not in self._leaders:
                    self._look(partition, attempts)
                return self._connection(self._addresses[self._leaders[partition]])
            except CONNECTION_FAILURES as error:
                self.forget(partition)
                self._trouble.note(error)
                attempts.failed(error)

    def replica(self, partition: TopicPartition, attempts: RequestRetries) -> BrokerConnection:
        """A connection to the broker that the partition is read from: the leader, unless it named another."""
        address = self._addresses.get(self._replicas.get(partition, _NOBODY))
        if address is not None:
            with suppress(*CONNECTION_FAILURES):
                return self._connection(address)
        return self.leader(partition, attempts)

    def prefer_replica(self, partition: TopicPartition, node: int) -> None:
        """Read the partition from another broker than its leader, as that one says."""
        self._replicas[partition] = node
        if node not in self._addresses:
            self.avoid_replica(partition)

    def avoid_replica(self, partition: TopicPartition) -> bool:
        """The same as `leave_replica`, and have the leader name no replica for a while: one failed here.

        The leader may reach it, and would name it again and again.
        """
        was_read_from = self.leave_replica(partition)
        if was_read_from:
            self._avoided_until[partition] = self._network.now() + _AVOIDED_SECONDS
        return was_read_from

    def may_name_replicas(self, partitions: Iterable[TopicPartition]) -> bool:
        """True if leaders may name replicas of all of these partitions."""
        now = self._network.now()
        return all(self._avoided_until.get(partition, 0.0) <= now for partition in partitions)

    def leave_replica(self, partition: TopicPartition) -> bool:
        """Read the partition from its leader again; False if it was read from there."""
        return self._replicas.pop(partition, None) is not None

    def by_leader(
        self, partitions: Iterable[TopicPartition], attempts: RequestRetries
    ) -> dict[BrokerConnection, list[TopicPartition]]:
        """A connection to each of the leaders, with what it leads of these partitions."""
        of_leaders: dict[BrokerConnection, list[TopicPartition]] = {}
        for partition in partitions:
            of_leaders.setdefault(self.leader(partition, attempts), []).append(partition)
        return of_leaders

    def forget(self, partition: TopicPartition) -> None:
        """Look again for who leads it."""
        self._leaders.pop(partition, None)
        self.avoid_replica(partition)

    def doubt(self, connection: BrokerConnection) -> None:
        """Have other brokers say who leads what this one leads: who was deposed may not have heard of it."""
        self._note_failed(connection.address)

    def doubt_leader(self, partition: TopicPartition) -> None:
        """The same of the broker that leads a partition."""
        address = self._addresses.get(self._leaders.get(partition, _NOBODY))
        if address is not None:
            self._note_failed(address)

    def coordinator(self, transactional_id: str, attempts: RequestRetries) -> BrokerConnection:
        """A connection to who keeps the transactions of this name, asked for again."""
        while True:
            try:
                error, address = self._kept_by(transactional_id, attempts)
                if not error:
                    return self._connection(address)
            except CONNECTION_FAILURES as failure:
                self._trouble.note(failure)
                attempts.failed(failure)
            else:
                self._trouble.note(f"no transaction coordinator is available: {error_name(error)}")
                attempts.refused(error)

    def any(self, attempts: RequestRetries) -> BrokerConnection:
        """A connection to any broker."""
        while True:
            try:
                return self._any()
            except CONNECTION_FAILURES as failure:
                self._trouble.note(failure)
                attempts.failed(failure)

    @property
    def features(self) -> ClusterFeatures:
        """The features of the cluster, by the broker that has heard of them last."""
        of_brokers = [connection.features for connection in self._connections.values()]
        return max(of_brokers, key=lambda features: features.epoch, default=ClusterFeatures())

    def lost(self, connection: BrokerConnection) -> None:
        """Give up a connection that failed, and look again for the leaders of what that broker led."""
        connection.close()
        self._note_failed(connection.address)
        if self._connections.get(connection.address) is connection:
            del self._connections[connection.address]

    def close(self) -> None:
        """Let go of all connections."""
        while self._connections:
            self._connections.popitem()[1].close()

    def _look(self, partition: TopicPartition, attempts: RequestRetries) -> None:
        while True:
            topic = self._topic(partition.topic, attempts)
            if topic.error == UNKNOWN_TOPIC or (not topic.error and partition.index not in topic.leaders):
                attempts.missing(partition)
                continue
            for index, (_, leader) in topic.leaders.items():
                if leader in self._addresses:
                    self._leaders[TopicPartition(partition.topic, index)] = leader
            if partition in self._leaders:
                return
            # None, or one that has just gone: five is what a partition without a leader is told by.
            error = topic.error or topic.leaders[partition.index][0] or 5
            self._trouble.note(f"{partition} has no leader: {error_name(error)}")
            attempts.refused(error)

    def _kept_by(self, transactional_id: str, attempts: RequestRetries) -> tuple[int, BrokerAddress]:
        def read(answer: ResponseReader) -> tuple[int, BrokerAddress]:
            error = answer.int16()
            answer.text()  # the same in words
            node, address = answer.int32(), BrokerAddress(answer.text() or "", answer.int32())
            if not error:
                self._addresses[node] = address
            return error, address

        def write(body: RequestBody) -> None:
            body.text(transactional_id).int8(1)

        return self._asked(FIND_COORDINATOR, write, read, attempts.answer_seconds)

    def _topic(self, name: str, attempts: RequestRetries) -> _Topic:
        def read(answer: ResponseReader) -> _Topic:
            self._note_live(_live_brokers(answer))
            (topic,) = answer.list(_topic)
            return topic

        return self._asked(METADATA, _metadata_request([name]), read, attempts.answer_seconds)

    def _asked(
        self,
        request: BrokerRequest,
        write: WriteRequest,
        read: Callable[[ResponseReader], T],
        seconds: float,
        silent: BrokerAddress | None = None,  # who is not asked
    ) -> T:
        """The answer of the first broker that gives one in time: any knows what is asked here."""
        failure: Exception = OSError("no broker is named")
        for address in self._candidates():
            if address == silent:
                continue
            open_connection = self._connections.get(address)
            connection = open_connection
            try:
                if connection is None or not connection.idle:  # whose answers to come would be dropped
                    connection = self._connected(address)
                answer = read(connection.ask(request, write, seconds))
            except CONNECTION_FAILURES as error:
                failure = error
                if connection is not None:
                    self.lost(connection)
                continue
            except DeniedError:  # it lacks the request
                if connection is not None:
                    self.lost(connection)
                raise
            if open_connection is None:
                self._connections[address] = connection
            elif open_connection is not connection:
                connection.close()
            return answer
        raise failure

    def _candidates(self) -> Iterator[BrokerAddress]:
        """Whom to ask: those that have nothing to answer, then who is known, then who was named first.

        Who failed last comes last.
        """
        connections = self._connections.items()
        idle = [address for address, connection in connections if connection.idle]
        candidates = dict.fromkeys([*idle, *self._addresses.values(), *self._bootstrap])
        yield from sorted(candidates, key=lambda address: address == self._failed)

    def _look_at(self, connection: BrokerConnection) -> None:
        """ConnectionResetError where others say that a silent broker has left the cluster."""
        self._trouble.note(f"{connection.address} does not answer")
        if connection.address not in self._addresses.values():
            return  # brokers may call it by another name
        request = _metadata_request([])
        try:
            live = self._asked(METADATA, request, _live_brokers, _LIVENESS_SECONDS, connection.address)
        except CONNECTION_FAILURES:
            return  # nobody knows better
        self._note_live(live)
        if connection.address not in live.values():
            raise ConnectionResetError(f"{connection.address} has left the cluster")

    def _note_live(self, live: dict[int, BrokerAddress]) -> None:
        """Believe who belongs to the cluster; who does not leads nothing any more."""
        self._addresses = live
        self._leaders = {one: node for one, node in self._leaders.items() if node in live}

    def _any(self) -> BrokerConnection:
        """A connection to any broker."""
        failure: Exception = OSError("no broker is named")
        for address in self._candidates():
            try:
                return self._connection(address)
            except CONNECTION_FAILURES as error:
                failure = error
        raise failure

    def _connection(self, address: BrokerAddress) -> BrokerConnection:
        if address in self._connections and self._connections[address].is_stale:
            self._connections.pop(address).close()
        if address not in self._connections:
            try:
                self._connections[address] = self._connected(address)
            except CONNECTION_FAILURES:
                self._note_failed(address)
                raise
        return self._connections[address]

    def _connected(self, address: BrokerAddress) -> BrokerConnection:
        return BrokerConnection(address, self._settings, self._look_at, self._trouble.note_throttled)

    def _note_failed(self, address: BrokerAddress) -> None:
        """Believe nothing any more of what a broker leads; others are asked first."""
        self._failed = address
        nodes = {node for node, of_node in self._addresses.items() if of_node == address}
        self._leaders = {one: node for one, node in self._leaders.items() if node not in nodes}
        for partition in [one for one, node in self._replicas.items() if node in nodes]:
            self.avoid_replica(partition)


def _metadata_request(topics: Sequence[str]) -> WriteRequest:
    return lambda body: body.list(topics, RequestBody.text).int8(0)  # no topic is made


def _live_brokers(answer: ResponseReader) -> dict[int, BrokerAddress]:
    """The brokers that belong to the cluster now, by number."""
    live = dict(answer.list(_broker))
    answer.text()  # the cluster
    answer.int32()  # its controller
    return live


def _broker(answer: ResponseReader) -> tuple[int, BrokerAddress]:
    node = answer.int32()
    address = BrokerAddress(answer.text() or "", answer.int32())
    answer.text()  # its rack
    return node, address


def _topic(answer: ResponseReader) -> _Topic:
    error, name = answer.int16(), answer.text()
    answer.int8()  # whether it is the cluster's own
    return _Topic(error, name, dict(answer.list(_partition)))


def _partition(answer: ResponseReader) -> tuple[int, tuple[int, int]]:
    error, index, leader = answer.int16(), answer.int32(), answer.int32()
    answer.int32()  # the leader's epoch
    for _ in range(3):  # replicas: all, those in sync, those offline
        answer.list(ResponseReader.int32)
    return index, (error, leader)
