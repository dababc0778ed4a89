"""Brokers of our own in memory, which hold the protocol of Kafka's transactions in both versions.

Requests and answers are the bytes that real brokers take and give.
"""

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker_way import ADD_PARTITIONS, END_TRANSACTION, INIT_PRODUCER_ID, PRODUCE
from tests.harness.memory_kafka.kept_transaction import KeptTransaction
from tests.harness.memory_kafka.memory_network import MemoryNetwork
from tests.harness.memory_kafka.partition_log import PartitionLog
from tests.harness.memory_kafka.protocol_errors import ProtocolError
from tests.harness.memory_kafka.request_bytes import AnswerBytes, RequestBytes

FETCH, LIST_OFFSETS, METADATA, FIND_COORDINATOR, API_VERSIONS = 1, 2, 3, 10, 18
TOPIC, NODES = "rows", 3
_FLEXIBLE_FROM: Final = {
    PRODUCE: 9,
    FETCH: 12,
    LIST_OFFSETS: 6,
    METADATA: 9,
    FIND_COORDINATOR: 3,
    API_VERSIONS: 3,
    INIT_PRODUCER_ID: 2,
    ADD_PARTITIONS: 3,
    END_TRANSACTION: 3,
}
_OLD: Final = {PRODUCE: 9, INIT_PRODUCER_ID: 4, ADD_PARTITIONS: 3, END_TRANSACTION: 3}
"""The newest versions that brokers of Kafka 3.0 have."""
_NEW: Final = {PRODUCE: 12, INIT_PRODUCER_ID: 5, ADD_PARTITIONS: 5, END_TRANSACTION: 5}
"""The same of 4.0."""
_OTHERS: Final = {FETCH: 12, LIST_OFFSETS: 7, METADATA: 11, FIND_COORDINATOR: 4, API_VERSIONS: 3}
_AS_LEADERS_SAY: Final = {ProtocolError.PRODUCER_FENCED: ProtocolError.INVALID_PRODUCER_EPOCH}
_FINALIZED = b"\1\x08" + (7).to_bytes(8)


@dataclass(slots=True)
class MemoryCluster:
    """Three brokers, one topic. With `verifies` leaders ask the coordinator for what they take (KIP-890)."""

    chance: random.Random
    network: MemoryNetwork
    version: int  # of transactions
    partitions: int
    verifies: bool = True
    first_epoch: int = -1
    throttle_ms: int = 0
    throttled: Collection[int] = ()  # the requests of which a quota is used up
    empty_fetches: int = 0  # so many are answered by the word of a quota alone
    logs: dict[int, PartitionLog] = field(init=False)
    leaders: dict[int, int] = field(init=False)
    kept: dict[str, KeptTransaction] = field(default_factory=dict)
    coordinator: int = 0
    _loading_until: float = 0.0
    _producers: int = 1000

    def __post_init__(self) -> None:
        self.logs = {index: PartitionLog() for index in range(self.partitions)}
        self.leaders = {index: index % NODES for index in range(self.partitions)}
        self.network.answer = self.answer

    def move_coordinator(self) -> None:
        """Have another broker keep the transactions, once it has read them."""
        self.coordinator = (self.coordinator + 1) % NODES
        self._loading_until = self.network.now() + self.chance.random()

    def move_leader(self, index: int) -> None:
        """Have another broker lead a partition."""
        self.leaders[index] = (self.leaders[index] + 1) % NODES

    def answer(self, node: int, request: bytes) -> bytes:
        """The answer of a broker to a request."""
        key, version = int.from_bytes(request[:2]), int.from_bytes(request[2:4])
        flexible = version >= _FLEXIBLE_FROM[key]
        body = RequestBytes(request, 8, flexible=False)
        body.octets("h")  # the client's name, which is as in the older encoding
        body.flexible = flexible
        body.tags()
        answer = AnswerBytes(flexible=flexible)
        answer.octets += request[4:8]
        if key != API_VERSIONS:
            answer.tags()
        write: Callable[[int, int, RequestBytes, AnswerBytes], None] = {
            PRODUCE: self._produce,
            FETCH: self._fetch,
            LIST_OFFSETS: self._list_offsets,
            METADATA: self._metadata,
            FIND_COORDINATOR: self._find_coordinator,
            API_VERSIONS: self._api_versions,
            INIT_PRODUCER_ID: self._initialise,
            ADD_PARTITIONS: self._add_partitions,
            END_TRANSACTION: self._end_transaction,
        }[key]
        write(node, version, body, answer)
        return bytes(answer.octets)

    def _api_versions(self, _: int, __: int, ___: RequestBytes, answer: AnswerBytes) -> None:
        newest = _OTHERS | (_OLD if self.version == 1 and not self.verifies else _NEW)
        answer.numbers("h", 0).items(
            list(newest.items()), lambda to, row: to.numbers("hhh", row[0], 0, row[1])
        )
        answer.numbers("i", 0)
        name = b"transaction.version"
        level = bytes([2, len(name) + 1]) + name + self.version.to_bytes(2) * 2 + b"\0"
        answer.octets += b"\2" + _FINALIZED + bytes([2, len(level)]) + level

    def _metadata(self, _: int, __: int, body: RequestBytes, answer: AnswerBytes) -> None:
        topics = body.items(RequestBytes.text)
        answer.numbers("i", 0)
        answer.items(
            range(NODES), lambda to, node: to.numbers("i", node).text(str(node)).numbers("i", 9092).text(None)
        )
        answer.text("memory").numbers("i", 0)

        def write_partition(to: AnswerBytes, index: int) -> None:
            to.numbers("hiii", 0, index, self.leaders[index], 0)
            for _ in range(3):
                to.plain_items("i", [])

        def write_topic(to: AnswerBytes, name: str) -> None:
            known = name == TOPIC
            to.numbers("h", 0 if known else ProtocolError.UNKNOWN_TOPIC_OR_PARTITION).text(name)
            to.numbers("b", 0).items(range(self.partitions) if known else (), write_partition)

        answer.items(topics, write_topic)

    def _find_coordinator(self, _: int, __: int, ___: RequestBytes, answer: AnswerBytes) -> None:
        answer.numbers("ih", self._throttle(FIND_COORDINATOR), 0).text(None)
        answer.numbers("i", self.coordinator).text(str(self.coordinator)).numbers("i", 9092)

    def _initialise(self, node: int, version: int, body: RequestBytes, answer: AnswerBytes) -> None:
        name, timeout_ms = body.text(), body.number("i")
        if version >= 3:
            assert (body.number("q"), body.number("h")) == (-1, -1)
        error = self._coordinates(node)
        transaction = self._kept(name)
        if not error:
            error = transaction.initialise(timeout_ms / 1000)
        identity = (-1, -1) if error else (transaction.producer, transaction.epoch)
        answer.numbers("ihqh", self._throttle(INIT_PRODUCER_ID), error, *identity).tags()

    def _add_partitions(self, node: int, _: int, body: RequestBytes, answer: AnswerBytes) -> None:
        name, producer, epoch = body.text(), body.number("q"), body.number("h")
        topics = body.items(lambda each: (each.text(), each.numbers("i")))
        partitions = [TopicPartition(topic, index) for topic, indexes in topics for index in indexes]
        error = self._coordinates(node) or self._kept(name).add(producer, epoch, partitions)
        answer.numbers("i", self._throttle(ADD_PARTITIONS)).items(
            topics,
            lambda to, topic: to.text(topic[0]).items(
                topic[1], lambda to, index: to.numbers("ih", index, error)
            ),
        ).tags()

    def _end_transaction(self, node: int, version: int, body: RequestBytes, answer: AnswerBytes) -> None:
        name, producer, epoch, commits = body.text(), body.number("q"), body.number("h"), body.number("b")
        transaction = self._kept(name)
        error = self._coordinates(node) or transaction.end(producer, epoch, commits=bool(commits))
        answer.numbers("ih", self._throttle(END_TRANSACTION), error)
        if version >= 5:
            answer.numbers("qh", *((-1, -1) if error else transaction.next_identity))
        answer.tags()

    def _produce(self, node: int, version: int, body: RequestBytes, answer: AnswerBytes) -> None:
        name = body.text()
        assert body.number("h") == -1, "all replicas in sync have to confirm"
        body.number("i")
        topics = body.items(
            lambda each: (each.text(), each.items(lambda one: (one.number("i"), one.octets() or b"")))
        )

        def write_partition(to: AnswerBytes, item: tuple[int, bytes]) -> None:
            error, base = self._appended(node, version, name, *item)
            to.numbers("ihqqq", item[0], error, base, -1, 0)
            if version >= 8:
                to.plain_items("b", []).text(None)

        answer.items(topics, lambda to, topic: to.text(topic[0]).items(topic[1], write_partition))
        answer.numbers("i", self._throttle(PRODUCE)).tags()

    def _appended(
        self, node: int, version: int, name: str, index: int, batch: bytes
    ) -> tuple[ProtocolError, int]:
        if self.leaders[index] != node:
            return ProtocolError.NOT_LEADER_OR_FOLLOWER, -1
        log, partition = self.logs[index], TopicPartition(TOPIC, index)
        producer, epoch = int.from_bytes(batch[43:51], signed=True), int.from_bytes(batch[51:53])
        if name and not log.has_open(producer, epoch):
            error = self._admitted(self._kept(name), version, producer, epoch, partition)
            if error:
                return error, -1
        return log.append(batch)

    def _admitted(
        self, transaction: KeptTransaction, version: int, producer: int, epoch: int, partition: TopicPartition
    ) -> ProtocolError:
        """The coordinator's word on the first batch of a transaction for a partition."""
        if self.version > 1:
            assert version >= 12, "no leader adds partitions for an older request"
            error = transaction.add(producer, epoch, [partition])
        elif self.verifies:
            error = transaction.verify(producer, epoch, partition)
        else:
            error = ProtocolError.NONE
        return _AS_LEADERS_SAY.get(error, error)

    def _fetch(self, node: int, _: int, body: RequestBytes, answer: AnswerBytes) -> None:
        for kind in "iiiibii":
            body.number(kind)
        topics = body.items(
            lambda each: (
                each.text(),
                each.items(lambda one: tuple(one.number(kind) for kind in "iiqqi")),
            )
        )

        def write_partition(to: AnswerBytes, item: tuple[int, ...]) -> None:
            log = self.logs[item[0]]
            batches, aborted = log.fetch(item[2])
            error = 0 if self.leaders[item[0]] == node else ProtocolError.NOT_LEADER_OR_FOLLOWER
            to.numbers("ihqqq", item[0], error, log.end, log.stable_end, 0)
            to.items(aborted, lambda to, one: to.numbers("qq", *one))
            to.numbers("i", -1).raw(batches)

        answer.numbers("ihi", self._throttle(FETCH), 0, 0)
        if self.empty_fetches:
            self.empty_fetches -= 1
            topics = []
        answer.items(topics, lambda to, topic: to.text(topic[0]).items(topic[1], write_partition))

    def _list_offsets(self, node: int, _: int, body: RequestBytes, answer: AnswerBytes) -> None:
        body.number("i")
        assert body.number("b") == 1, "only the stable end is asked for here"
        topics = body.items(
            lambda each: (each.text(), each.items(lambda one: [one.number(kind) for kind in "iiq"]))
        )

        def write_partition(to: AnswerBytes, item: list[int]) -> None:
            error = 0 if self.leaders[item[0]] == node else ProtocolError.NOT_LEADER_OR_FOLLOWER
            to.numbers("ihqqi", item[0], error, -1, self.logs[item[0]].stable_end, 0)

        answer.numbers("i", self._throttle(LIST_OFFSETS))
        answer.items(topics, lambda to, topic: to.text(topic[0]).items(topic[1], write_partition))

    def _throttle(self, kind: int) -> int:
        return self.throttle_ms if kind in self.throttled else 0

    def _coordinates(self, node: int) -> ProtocolError:
        if node != self.coordinator:
            return ProtocolError.NOT_COORDINATOR
        is_loading = self.network.now() < self._loading_until
        return ProtocolError.COORDINATOR_LOAD_IN_PROGRESS if is_loading else ProtocolError.NONE

    def _kept(self, name: str) -> KeptTransaction:
        if name not in self.kept:
            self.kept[name] = KeptTransaction(
                self.version,
                self._new_producer,
                lambda partition, *marker: self.logs[partition.index].mark(
                    *marker[:2], commits=bool(marker[2])
                ),
                self.network.after,
                lambda: 0.02 * self.chance.random() ** 4,
                self.first_epoch,
            )
        return self.kept[name]

    def _new_producer(self) -> int:
        self._producers += 1
        return self._producers


def _write_version(answer: AnswerBytes, row: tuple[int, int]) -> None:
    answer.numbers("hhh", row[0], 0, row[1])
