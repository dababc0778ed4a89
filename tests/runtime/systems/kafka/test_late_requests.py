"""Requests that come to the broker long after their client has taken their connection for lost."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import FencedError, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.core.all_cases import all_cases
from tests.harness.engine.record_values import texts, values, write
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.broker_way import ADD_PARTITIONS, END_TRANSACTION, INIT_PRODUCER_ID, PRODUCE
from tests.harness.kafka.clients import created
from tests.harness.kafka.late_proxy import LateWay, end_error
from tests.harness.machine.random_cases import share

OWNER = "late.checkpoint"
TRANSACTIONS, PARTITIONS = 8, 2
KINDS = (INIT_PRODUCER_ID, ADD_PARTITIONS, PRODUCE, END_TRANSACTION, END_TRANSACTION)


@pytest.fixture(scope="module", params=[1, 2], ids="transaction.version={}".format)
def late(
    request: pytest.FixtureRequest, kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Broker, LateWay]]:
    """A broker with either version of transactions, and a way to it on which requests are held back."""
    broker = Broker(tmp_path_factory.mktemp("late") / "broker", guards={"WAY": "PLAINTEXT"})
    broker.features = {"transaction.version": request.param}
    way = LateWay(broker.guarded("WAY"))
    broker.told = {"WAY": way.address}
    broker.start()
    yield broker, way
    broker.stop()
    way.close()


@pytest.mark.parametrize("commits", [True, False], ids=["commit", "abort"])
def test_a_late_end_of_one_transaction_does_not_end_the_next(
    late: tuple[Broker, LateWay], commits: bool
) -> None:
    broker, way = late
    partition = TopicPartition(created(broker.bootstrap), 0)
    with closing(KafkaSystem(way.address)) as system, closing(KafkaSystem(broker.bootstrap)) as reader:
        first = system.begin(OWNER, 1)
        first.append(partition, values("first"))
        first.end_of(partition)  # the broker has it
        way.hold(END_TRANSACTION)
        if commits:
            first.commit()
        else:
            first.abort()
        taken_over = way.requests[INIT_PRODUCER_ID]
        following = system.begin(OWNER, 1)
        following.append(partition, values("second"))
        following.end_of(partition)
        error = end_error(way.let_through())
        if commits:
            following.abort()
        else:
            following.commit()
        write(reader, partition, values("last"))  # behind the end of both
        assert texts(reader, partition) == ["first" if commits else "second", "last"]
        assert error, "the broker took a late request for the end of the next transaction"
        has_own_epoch = broker.features["transaction.version"] > 1
        assert (way.requests[INIT_PRODUCER_ID] == taken_over) is has_own_epoch, "a new epoch is not asked for"
        assert (way.requests[ADD_PARTITIONS] == 0) is has_own_epoch, "leaders add partitions"


def test_no_schedule_of_late_and_doubled_requests_tears_a_transaction(late: tuple[Broker, LateWay]) -> None:
    broker, way = late
    schedules = share(0.02)  # test_transaction_schedules.py tries many in memory
    topic = created(broker.bootstrap, schedules * PARTITIONS)
    with closing(KafkaSystem(broker.bootstrap)) as reader, all_cases() as case:
        for seed in range(schedules):
            partitions = [TopicPartition(topic, PARTITIONS * seed + index) for index in range(PARTITIONS)]
            with case(f"seed {seed}"), closing(KafkaSystem(way.address)) as system:
                schedule = Schedule(
                    np.random.default_rng(seed), way, system, f"late.{seed}.checkpoint", partitions
                )
                for number in range(TRANSACTIONS):
                    schedule.run(f"{number}")
                while way.late:
                    way.let_through()
                write(system, partitions[0], values("last"), owner=schedule.owner)
                schedule.check(reader)


@dataclass(slots=True)
class Schedule:
    """Transactions of one writer, the requests that come late between them, and what is to be read then."""

    chance: np.random.Generator
    way: LateWay
    system: KafkaSystem
    owner: str
    partitions: list[TopicPartition]
    committed: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # what a commit that failed has left

    def run(self, text: str) -> None:
        """One transaction to all partitions."""
        self._disturb()
        try:
            transaction = self.system.begin(self.owner, 1)
        except (FencedError, UnavailableError):
            return
        is_committing = False
        try:
            for partition in self.partitions:
                transaction.append(partition, values(text))
                self._disturb()
                transaction.end_of(partition)
            is_committing = self.chance.random() < 0.5
            if is_committing:
                transaction.commit()
                self.committed.append(text)
            else:
                transaction.abort()
        except (FencedError, UnavailableError):
            transaction.abort()
            if is_committing:
                self.unknown.append(text)

    def check(self, reader: KafkaSystem) -> None:
        """Compare what is read: every transaction is there whole, or not at all."""
        first, *others = [texts(reader, partition) for partition in self.partitions]
        assert first.pop() == "last"
        assert others == [first] * len(others), "a transaction was torn"
        assert [text for text in first if text not in self.unknown] == self.committed

    def _disturb(self) -> None:
        """By chance have a request come late or twice, and let late ones through."""
        if self.chance.random() < 0.4:
            self.way.hold(int(self.chance.choice(KINDS)), doubled=self.chance.random() < 0.3)
        while self.way.late and self.chance.random() < 0.4:
            self.way.let_through()
