"""Transactions over a network on which requests are lost, late and doubled, compared with a model.

Brokers, network and clock are in memory, and one seed owns all of them; client and bytes are the real ones.
"""

import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache

import pytest

from streamapp_runtime.systems.kafka.transactions.kafka_transaction import KafkaTransaction
from streamapp_runtime.systems.kafka.transactions.non_transactional_producer import NonTransactionalProducer
from streamapp_runtime.systems.kafka.transactions.transactional_writer import (
    TransactionalWriter,
    take_over_writer,
)
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import BrokerPool
from streamapp_runtime.systems.kafka.wire.wire_offsets import WireOffsets
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.stream_system import FencedError, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.core.all_cases import all_cases
from tests.harness.engine.record_values import values
from tests.harness.kafka.broker_way import END_TRANSACTION
from tests.harness.machine.random_cases import share
from tests.harness.memory_kafka.kept_transaction import LAST_EPOCH
from tests.harness.memory_kafka.memory_cluster import TOPIC, MemoryCluster
from tests.harness.memory_kafka.memory_network import WRITING, MemoryNetwork

NAME = "lane"
TRANSACTIONS = 6
PARTITIONS = [TopicPartition(TOPIC, index) for index in range(3)]
BOOTSTRAP = "0:9092,1:9092"


@dataclass(slots=True)
class Written:
    """What a transaction wrote, and what its client was told of its end; None while that is not known."""

    rows: dict[TopicPartition, list[str]]
    committed: bool | None = False


@dataclass(slots=True)
class Incarnation:
    """One who writes under the name, until another takes over."""

    number: int
    writer: TransactionalWriter | None = None


@dataclass(slots=True)
class Schedule:
    """Transactions of one name; what happens to their requests, and between them, is of one seed."""

    chance: random.Random
    cluster: MemoryCluster
    settings: ConnectionSettings
    rows_at_once: int
    largest: int  # bytes of a batch: where it is small, several are under way
    written: list[Written] = field(default_factory=list)
    current: Incarnation = field(default_factory=lambda: Incarnation(1))
    offsets: WireOffsets = field(init=False)
    reader: WireReader = field(init=False)

    def __post_init__(self) -> None:
        self.offsets = WireOffsets(BrokerPool(BOOTSTRAP, self.settings))
        self.reader = WireReader(BOOTSTRAP, self.settings)

    def make(self, name: str | None) -> WireProducer:
        return WireProducer(BOOTSTRAP, name, self.settings, largest=self.largest)

    def begin(self, who: Incarnation) -> KafkaTransaction:
        """A transaction of who writes; where its writer is of no more use another takes over the name."""
        if who.writer is None or not who.writer.serves(who.number):
            if who.writer is not None:
                who.writer.close()
            who.writer = take_over_writer(self.make, NAME, who.number)
            self._find_out()
        who.writer.busy = True
        outright = NonTransactionalProducer(self.make)
        return KafkaTransaction(who.writer, outright, lambda _: None, self.offsets.stable_ends, 1)

    def run(self, who: Incarnation) -> None:
        """One transaction to some partitions, in several batches."""
        try:
            transaction = self.begin(who)
        except (FencedError, UnavailableError):
            return
        written = Written({})
        self.written.append(written)
        requests_before = None
        try:
            for turn in range(self.chance.randint(1, 2)):
                for partition in self.chance.sample(PARTITIONS, self.chance.randint(1, 3)):
                    texts = [f"{len(self.written)}.{turn}.{part}" for part in range(self.rows_at_once)]
                    written.rows.setdefault(partition, []).extend(texts)
                    transaction.append(partition, _rows(*texts))
                    if self.chance.random() < 0.4:
                        transaction.end_of(partition)
                self.disturb(who)
            if self.chance.random() < 0.5:
                transaction.abort()
                return
            requests_before = self.cluster.network.sent[END_TRANSACTION]
            transaction.commit()
            written.committed = True
        except (FencedError, UnavailableError):
            if requests_before not in (None, self.cluster.network.sent[END_TRANSACTION]):
                written.committed = None
            transaction.abort()

    def disturb(self, who: Incarnation) -> None:
        """By chance something happens to brokers, or another incarnation takes over."""
        if self.chance.random() < 0.04:
            self.cluster.move_coordinator()
        if self.chance.random() < 0.04:
            self.cluster.move_leader(self.chance.randrange(len(PARTITIONS)))
        if who is self.current and self.chance.random() < 0.04:
            self.current = Incarnation(who.number + 1)
            self.run(self.current)

    def check(self) -> None:
        """Compare what is read with what clients were told."""
        self.cluster.network.quieten()
        last = Incarnation(self.current.number + 1)
        transaction = self.begin(last)
        for partition in PARTITIONS:
            transaction.append(partition, values("last"))
        transaction.commit()
        self.written.append(Written({partition: ["last"] for partition in PARTITIONS}, committed=True))
        expected: dict[TopicPartition, list[str]] = {partition: [] for partition in PARTITIONS}
        for written in self.written:
            for partition, rows in written.rows.items():
                expected[partition] += rows if written.committed else []
        assert self._read() == expected

    def _find_out(self) -> None:
        """See what came of transactions whose end is unknown: it is decided once the name is taken over."""
        unknown = [written for written in self.written if written.committed is None]
        if not unknown:
            return
        with self._undisturbed():
            present = self._read()
        for written in unknown:
            seen = [row in present[partition] for partition, rows in written.rows.items() for row in rows]
            assert len(set(seen)) == 1, "a transaction was torn"
            written.committed = seen[0]

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        network = self.cluster.network
        rate, network.rate = network.rate, 0.0
        yield
        network.rate = rate

    def _read(self) -> dict[TopicPartition, list[str]]:
        ends = self.offsets.stable_ends(PARTITIONS)
        return {
            partition: [
                value.decode()
                for records in self.reader.read(partition, 0, ends[partition])
                for value in records.column("value").to_pylist()
            ]
            for partition in PARTITIONS
        }


_rows = cache(values)


def scheduled(seed: int, version: int) -> Schedule:
    chance = random.Random(seed)  # noqa: S311
    kinds = {END_TRANSACTION, *chance.sample(WRITING, chance.randint(0, len(WRITING)))}
    network = MemoryNetwork(chance, kinds, chance.choice([0.1, 0.3, 0.5]))
    first_epoch = chance.choice([-1, -1, LAST_EPOCH - 5])
    cluster = MemoryCluster(
        chance, network, version, len(PARTITIONS), verifies=chance.random() < 0.5, first_epoch=first_epoch
    )
    settings = ConnectionSettings(timeout=5.0, network=network)
    rows, largest = chance.choice([(1, 1_000_000), (6, 150)])
    return Schedule(chance, cluster, settings, rows, largest)


@pytest.mark.parametrize("version", [1, 2], ids="transaction.version={}".format)
def test_no_schedule_tears_loses_or_doubles_a_transaction(version: int) -> None:
    with all_cases() as case:
        for seed in range(share(2)):
            with case(f"seed {seed}"):
                schedule = scheduled(seed, version)
                with closing(schedule.reader), closing(schedule.offsets):
                    for _ in range(TRANSACTIONS):
                        schedule.run(schedule.current)
                        schedule.disturb(schedule.current)
                    schedule.check()
