"""Three real brokers that change in the middle of a transaction: each number is there once, and in order.

Every transaction writes its number to each partition, and how far it is as a checkpoint. Whoever fails reads
the checkpoint and goes on from there, as a lane does.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import uuid4

import pytest

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import (
    FencedError,
    RecordRefusedError,
    StreamOptions,
    UnavailableError,
)
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import texts, values
from tests.harness.machine.processes import until
from tests.harness.machine.small_disk import NoDiskError
from tests.harness.outages.broker_cluster import AGREED_SECONDS, BrokerCluster, BrokerFault, in_time

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
PARTITIONS, TRANSACTIONS = 3, 4
TASK, LANE = b"task-0", "lane"


class Role(StrEnum):
    """Who of the three a fault befalls."""

    LEADER = "leader"
    COORDINATOR = "coordinator"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, kafka_jars: object) -> Iterator[BrokerCluster]:
    try:
        brokers = BrokerCluster(tmp_path_factory.mktemp("brokers"), small_disks=True)
    except NoDiskError as error:
        pytest.skip(str(error))
    with closing(brokers):
        brokers.start()
        yield brokers


@dataclass(slots=True)
class NumberWriter:
    """One incarnation of a writer of numbers, on topics of its own."""

    system: KafkaSystem
    owner: str = field(default_factory=lambda: f"{uuid4()}.checkpoint")
    incarnation: int = 1
    committed: int = 0

    @property
    def topic(self) -> str:
        return self.owner.removesuffix(".checkpoint")

    @property
    def partitions(self) -> list[TopicPartition]:
        return [TopicPartition(self.topic, index) for index in range(PARTITIONS)]

    def prepare(self) -> None:
        in_time(lambda: self.system.create(self.owner, 1, StreamOptions(compacted=True)))
        in_time(lambda: self.system.create(self.topic, PARTITIONS))

    def write(self, count: int, in_the_middle: Callable[[], None] = lambda: None) -> None:
        """So many numbers more; something happens when the first is with its leaders, and not committed."""
        goal = self.committed + count
        ends = time.monotonic() + AGREED_SECONDS
        happens: Callable[[], None] | None = in_the_middle
        while self.committed < goal:
            assert time.monotonic() < ends, f"{self.committed} of {goal} numbers are written"
            try:
                self._write_one(happens)
                self.committed += 1
            except (UnavailableError, FencedError):
                newest = in_time(lambda: self.system.latest(self.owner))
                self.committed = int(newest.get(TASK, b"0"))
            happens = None

    def _write_one(self, happens: Callable[[], None] | None) -> None:
        expected = b"%d" % self.committed if self.committed else None
        transaction = self.system.begin(self.owner, self.incarnation, {TASK: expected}, LANE)
        try:
            for partition in self.partitions:
                transaction.append(partition, values(str(self.committed)))
                transaction.end_of(partition)
            if happens:
                happens()
            transaction.put(self.owner, TASK, b"%d" % (self.committed + 1))
            transaction.commit()
        except BaseException:
            transaction.abort()
            raise

    def check(self, bootstrap: str) -> None:
        """Compare what anybody reads with the numbers that are committed."""
        numbers = [str(number) for number in range(self.committed)]
        with closing(KafkaSystem(bootstrap)) as reader:
            for partition in self.partitions:
                until(lambda at=partition: len(in_time(lambda: texts(reader, at))) >= len(numbers), 60)
                assert in_time(lambda at=partition: texts(reader, at)) == numbers, partition


BY_NIGHT = pytest.mark.nightly


@pytest.mark.parametrize(
    ("role", "fault"),
    [
        (Role.COORDINATOR, BrokerFault.KILLED),
        (Role.LEADER, BrokerFault.DISK_FULL),
        pytest.param(Role.LEADER, BrokerFault.SHUT_DOWN, marks=BY_NIGHT),
        pytest.param(Role.COORDINATOR, BrokerFault.SHUT_DOWN, marks=BY_NIGHT),
        pytest.param(Role.COORDINATOR, BrokerFault.FROZEN, marks=BY_NIGHT),
        pytest.param(Role.COORDINATOR, BrokerFault.DISK_FULL, marks=BY_NIGHT),
    ],
)
def test_numbers_are_there_once_whoever_is_in_trouble_in_the_middle_of_a_transaction(
    cluster: BrokerCluster, role: Role, fault: BrokerFault
) -> None:
    with closing(KafkaSystem(cluster.bootstrap)) as system:
        writer = NumberWriter(system)
        writer.prepare()
        writer.write(TRANSACTIONS)
        befallen = (
            cluster.leader(writer.topic)
            if role is Role.LEADER
            else cluster.coordinator(f"{writer.owner}.{LANE}")
        )
        asked = (befallen + 1) % len(cluster.brokers)
        writer.write(TRANSACTIONS, lambda: cluster.begin(fault, befallen))
        until(lambda: cluster.leader(writer.topic, asked=asked) != befallen, AGREED_SECONDS)
        writer.write(TRANSACTIONS)
        cluster.end(fault, befallen)
        writer.write(TRANSACTIONS)
        writer.check(cluster.bootstrap)


def test_an_older_self_that_wakes_up_in_its_transaction_commits_nothing(cluster: BrokerCluster) -> None:
    with (
        closing(KafkaSystem(cluster.bootstrap)) as system,
        closing(KafkaSystem(cluster.bootstrap)) as of_another,
    ):
        older = NumberWriter(system)
        older.prepare()
        older.write(TRANSACTIONS)
        newer = NumberWriter(of_another, older.owner, incarnation=2, committed=older.committed)

        def take_over() -> None:
            of_another.fence(newer.owner, newer.incarnation, [LANE])
            newer.write(TRANSACTIONS)

        with pytest.raises(FencedError):
            older._write_one(take_over)
        with pytest.raises(FencedError):
            older._write_one(None)
        newer.write(TRANSACTIONS)
        newer.check(cluster.bootstrap)


def test_a_record_that_is_too_large_leaves_nothing_of_its_transaction(cluster: BrokerCluster) -> None:
    with closing(KafkaSystem(cluster.bootstrap)) as system:
        writer = NumberWriter(system)
        writer.prepare()
        writer.write(TRANSACTIONS)

        def write_too_much() -> None:
            transaction = system.begin(f"{writer.owner}.large", 1)
            try:
                for partition in writer.partitions:
                    transaction.append(partition, values("small"))
                    transaction.end_of(partition)
                transaction.append(writer.partitions[0], values(hex(9**2_000_000)))
                transaction.commit()
            finally:
                transaction.abort()

        with pytest.raises(RecordRefusedError, match="TOO_LARGE"):
            write_too_much()
        writer.write(TRANSACTIONS)
        writer.check(cluster.bootstrap)
