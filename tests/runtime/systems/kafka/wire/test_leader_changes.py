"""Partitions whose leader goes while the wire reads and writes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSecurity
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import QUIET, consumed
from tests.harness.kafka.record_contents import numbered

COUNT = 30_000


@pytest.fixture
def two(broker: Broker, tmp_path: Path) -> Iterator[tuple[Broker, Broker]]:
    # Transactions are kept where the topic for them is made: on the broker that stays.
    earlier = WireProducer(broker.bootstrap, "earlier", ConnectionSecurity(timeout=60))
    earlier.initialise()
    earlier.close()
    second = Broker(tmp_path / "second", joins=broker)
    second.start()
    yield broker, second
    second.kill()


def led_by_the_second(address: str) -> str:
    """A topic whose partition both brokers hold, the second one first."""
    admin = AdminClient({"bootstrap.servers": address, **QUIET})
    topic = NewTopic("moves", 1, replica_assignment=[[2, 1]], config={"min.insync.replicas": "1"})
    admin.create_topics([topic])["moves"].result(60)
    leaders: list[int] = []
    while leaders != [2]:
        leaders = [one.leader for one in admin.list_topics("moves").topics["moves"].partitions.values()]
    return "moves"


def test_a_transaction_and_a_range_go_on_with_the_next_leader(two: tuple[Broker, Broker]) -> None:
    first, second = two
    topic = led_by_the_second(first.bootstrap)
    partition, security = Partition(topic, 0), ConnectionSecurity(timeout=60)
    writer = WireProducer(first.bootstrap, "w", security, timeout_ms=300_000)
    writer.initialise()
    writer.append(partition, numbered(0, COUNT, size=100))
    writer.flush()
    second.kill()
    writer.append(partition, numbered(COUNT, COUNT, size=100))
    end = writer.commit()[partition]
    found = consumed(first.bootstrap, topic, 0, end)
    assert [row[1] for row in found] == [b"k%d" % number for number in range(2 * COUNT)]
    writer.close()


def test_reading_goes_on_with_the_next_leader(two: tuple[Broker, Broker]) -> None:
    first, second = two
    topic = led_by_the_second(first.bootstrap)
    partition, security = Partition(topic, 0), ConnectionSecurity(timeout=60)
    writer, reader = (
        WireProducer(first.bootstrap, "w", security, timeout_ms=300_000),
        WireReader(first.bootstrap, security),
    )
    writer.initialise()
    writer.append(partition, numbered(0, COUNT, size=200))
    end = writer.commit()[partition]
    offsets = list[int]()
    for part in reader.read(partition, 0, end):
        offsets += part.column("offset").to_pylist()
        second.kill()
    assert offsets == list(range(COUNT))
    writer.close()
    reader.close()
