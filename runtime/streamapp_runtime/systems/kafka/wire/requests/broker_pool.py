"""The brokers of a cluster: who leads a partition, who keeps a transaction, and a connection to each."""

from dataclasses import dataclass

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import (
    BrokerAddress,
    BrokerConnection,
    ConnectionSecurity,
)
from streamapp_runtime.systems.kafka.wire.requests.request_fields import RequestBody, ResponseReader
from streamapp_runtime.systems.kafka.wire.requests.request_retries import CONNECTION_FAILURES, RequestRetries

_METADATA = (3, 7)
_FIND_COORDINATOR = (10, 2)
UNKNOWN_TOPIC = 3


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

    def __init__(self, bootstrap: str, security: ConnectionSecurity) -> None:
        self._bootstrap = parse_addresses(bootstrap)
        self._security = security
        self._addresses: dict[int, BrokerAddress] = {}
        self._leaders: dict[Partition, int] = {}
        self._connections: dict[BrokerAddress, BrokerConnection] = {}

    def leader(self, partition: Partition, attempts: RequestRetries) -> BrokerConnection:
        """A connection to who leads the partition."""
        while True:
            try:
                if partition not in self._leaders:
                    self._look(partition, attempts)
                return self._connection(self._addresses[self._leaders[partition]])
            except CONNECTION_FAILURES as error:
                self.forget(partition)
                attempts.failed(error)

    def forget(self, partition: Partition) -> None:
        """Look anew for who leads it."""
        self._leaders.pop(partition, None)

    def coordinator(self, transactional_id: str, attempts: RequestRetries) -> BrokerConnection:
        """A connection to who keeps the transactions of this name, asked for anew."""
        while True:
            try:
                error, address = self._kept_by(transactional_id)
                if not error:
                    return self._connection(address)
            except CONNECTION_FAILURES as failure:
                attempts.failed(failure)
            else:
                attempts.refused(error)

    def any(self, attempts: RequestRetries) -> BrokerConnection:
        """A connection to any broker."""
        while True:
            try:
                return self._any()
            except CONNECTION_FAILURES as failure:
                attempts.failed(failure)

    def lost(self, connection: BrokerConnection) -> None:
        """Give up a connection that failed."""
        connection.close()
        if self._connections.get(connection.address) is connection:
            del self._connections[connection.address]

    def close(self) -> None:
        """Let go of all connections."""
        while self._connections:
            self._connections.popitem()[1].close()

    def _look(self, partition: Partition, attempts: RequestRetries) -> None:
        while True:
            topic = self._topic(partition.stream)
            if topic.error == UNKNOWN_TOPIC or (not topic.error and partition.index not in topic.leaders):
                attempts.missing(partition)
                continue
            for index, (_, leader) in topic.leaders.items():
                if leader in self._addresses:
                    self._leaders[Partition(partition.stream, index)] = leader
            if partition in self._leaders:
                return
            # None, or one that has just gone: five is what a partition without a leader is told by.
            attempts.refused(topic.error or topic.leaders[partition.index][0] or 5)

    def _kept_by(self, transactional_id: str) -> tuple[int, BrokerAddress]:
        connection = self._any()
        try:
            answer = connection.ask(*_FIND_COORDINATOR, RequestBody().text(transactional_id).int8(1))
            answer.int32()  # how long it was throttled
            error = answer.int16()
            answer.text()  # the same in words
            answer.int32()  # the broker's number
            return error, BrokerAddress(answer.text() or "", answer.int32())
        except CONNECTION_FAILURES:
            self.lost(connection)
            raise

    def _topic(self, name: str) -> _Topic:
        connection = self._any()
        try:
            answer = connection.ask(*_METADATA, RequestBody().list([name], RequestBody.text).int8(0))
            answer.int32()  # how long it was throttled
            self._addresses = dict(answer.list(_broker))
            answer.text()  # the cluster
            answer.int32()  # its controller
            (topic,) = answer.list(_topic)
        except CONNECTION_FAILURES:
            self.lost(connection)
            raise
        return topic

    def _any(self) -> BrokerConnection:
        """A connection to any broker."""
        for connection in self._connections.values():
            return connection
        failure: Exception = OSError("no broker is named")
        for address in [*self._addresses.values(), *self._bootstrap]:
            try:
                return self._connection(address)
            except CONNECTION_FAILURES as error:
                failure = error
        raise failure

    def _connection(self, address: BrokerAddress) -> BrokerConnection:
        if address not in self._connections:
            self._connections[address] = BrokerConnection(address, self._security)
        return self._connections[address]


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
