"""Partitions whose leader goes, or answers nobody any more, while the wire reads and writes."""

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.fetch_request import FetchLimits
from streamapp_runtime.systems.kafka.wire.wire_arrivals import WireArrivals
from streamapp_runtime.systems.kafka.wire.wire_offsets import WireOffsets
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.stream_system import OffsetRange, UnknownStreamError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import QUIET, consumed
from tests.harness.kafka.record_contents import numbered
from tests.harness.machine.processes import until

COUNT = 30_000
Pair = tuple[Broker, Broker]


@pytest.fixture(scope="module")
def cluster(lasting_broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    # Transactions are kept where the topic for them is made: on the broker that stays.
    earlier = WireProducer(lasting_broker.bootstrap, "earlier", ConnectionSettings(timeout=60))
    earlier.initialise()
    earlier.close()
    second = Broker(tmp_path_factory.mktemp("second") / "broker", joins=lasting_broker)
    second.start()
    yield lasting_broker, second
    second.kill()


@pytest.fixture
def two(cluster: Pair) -> Iterator[Pair]:
    yield cluster
    cluster[1].revive()


def led_by_the_second(address: str, replicas: Sequence[int] = (2, 1)) -> str:
    """A topic whose partition both brokers hold, the second one first."""
    name, admin = f"moves-{uuid.uuid4()}", AdminClient({"bootstrap.servers": address, **QUIET})
    config = {"min.insync.replicas": "1"}
    topic = NewTopic(name, 1, replica_assignment=[list(replicas)], config=config)
    admin.create_topics([topic])[name].result(60)
    leaders: list[int] = []
    while leaders != [replicas[0]]:
        leaders = [one.leader for one in admin.list_topics(name).topics[name].partitions.values()]
    return name


def test_a_transaction_and_a_range_go_on_with_the_next_leader(two: Pair) -> None:
    first, second = two
    topic = led_by_the_second(first.bootstrap)
    partition, security = TopicPartition(topic, 0), ConnectionSettings(timeout=60)
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


@pytest.fixture
def racks(kafka_jars: Path, tmp_path: Path) -> Iterator[Pair]:
    """Brokers in the racks near and far, of which the second has others read from a replica near to them."""
    patient = {"broker.session.timeout.ms": "60000"}
    selector = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
    near = Broker(tmp_path / "near", patient | {"broker.rack": "near"})
    far = Broker(
        tmp_path / "far", patient | {"broker.rack": "far", "replica.selector.class": selector}, joins=near
    )
    near.start()
    far.start()
    yield near, far
    far.kill()
    near.kill()


def test_who_names_its_rack_reads_from_the_replica_in_it(racks: Pair) -> None:
    """Seen by a leader that answers nobody: it is not asked, long before another one leads."""
    near, far = racks
    partition = TopicPartition(led_by_the_second(near.bootstrap), 0)
    limits = FetchLimits(rack="near")
    with (
        closing(WireProducer(near.bootstrap, None)) as writer,
        closing(WireReader(near.bootstrap, ConnectionSettings(timeout=60), limits=limits)) as reader,
    ):
        writer.initialise()
        writer.append(partition, numbered(0, COUNT, size=100))
        end = writer.commit()[partition]
        count = sum(map(len, reader.read(partition, 0, end)))
        assert count == end, "the other has heard that all is committed"
        far.freeze()
        begun = time.monotonic()
        reader.fetch_ahead([OffsetRange(partition, 10, 20)])
        assert sum(map(len, reader.read(partition, 10, 20))) == 10
        assert sum(map(len, reader.read(partition, 20, end))) == end - 20
        assert time.monotonic() - begun < 10
        far.thaw()
        near.kill()  # which the leader goes on to name
        begun = time.monotonic()
        assert sum(map(len, reader.read(partition, 0, end))) == end
        assert time.monotonic() - begun < 10


def test_who_waits_for_records_asks_the_next_leader(two: Pair) -> None:
    first, second = two
    partition = TopicPartition(led_by_the_second(first.bootstrap), 0)
    security = ConnectionSettings(timeout=60)
    arrivals = WireArrivals(BrokerPool(first.bootstrap, security))
    until(lambda: arrivals.wait({partition: 0}, 0.5, None), limit=60)
    second.kill()
    assert not arrivals.wait({partition: 0}, 60.0, None)
    until(lambda: arrivals.wait({partition: 0}, 0.1, None), limit=60)
    writer = WireProducer(first.bootstrap, "w", security, timeout_ms=300_000)
    writer.initialise()
    writer.append(partition, numbered(0, 1))
    writer.commit()
    begun = time.monotonic()
    assert arrivals.wait({partition: 0}, 60.0, None)
    assert time.monotonic() - begun < 30
    arrivals.close()
    writer.close()


def test_reading_goes_on_with_the_next_leader(two: Pair) -> None:
    first, second = two
    topic = led_by_the_second(first.bootstrap)
    partition, security = TopicPartition(topic, 0), ConnectionSettings(timeout=60)
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


def test_a_leader_that_answers_nobody_is_left_when_another_leads(two: Pair) -> None:
    first, second = two
    partition = TopicPartition(led_by_the_second(first.bootstrap), 0)
    # Ten times as long as a broker counts as alive that does not answer: whoever waits for it fails.
    security = ConnectionSettings(timeout=30)
    writer = WireProducer(first.bootstrap, "w", security, timeout_ms=300_000)
    reader = WireReader(first.bootstrap, security)
    offsets = WireOffsets(BrokerPool(first.bootstrap, security))
    writer.initialise()
    writer.append(partition, numbered(0, COUNT))
    middle = writer.commit()[partition]
    assert sum(map(len, reader.read(partition, 0, middle))) == COUNT
    until(lambda: offsets.stable_ends([partition])[partition] > middle, limit=60)
    second.freeze()
    end = offsets.high_watermarks([partition])[partition]
    assert end == middle + 1, "behind the records there is the end of their transaction"
    assert sum(map(len, reader.read(partition, 0, middle))) == COUNT
    writer.append(partition, numbered(COUNT, COUNT))
    assert writer.commit()[partition] == end + COUNT
    second.thaw()
    for each in (writer, reader, offsets):
        each.close()


def test_who_led_a_partition_and_is_gone_is_looked_for_no_more(two: Pair) -> None:
    first, second = two
    moves = TopicPartition(led_by_the_second(first.bootstrap), 0)
    stays = TopicPartition(led_by_the_second(first.bootstrap, (1, 2)), 0)
    offsets = WireOffsets(BrokerPool(first.bootstrap, ConnectionSettings(timeout=60)))
    assert offsets.oldest([moves]) == {moves: 0}
    second.kill()
    admin = AdminClient({"bootstrap.servers": first.bootstrap, **QUIET})
    until(lambda: len(admin.list_topics().brokers) == 1, limit=60)
    assert offsets.oldest([stays]) == {stays: 0}  # by which it hears who is left
    assert offsets.oldest([moves, stays]) == {moves: 0, stays: 0}
    offsets.close()


def test_a_partition_that_is_not_there_has_no_end(two: Pair) -> None:
    first, _ = two
    topic = led_by_the_second(first.bootstrap)
    offsets = WireOffsets(BrokerPool(first.bootstrap, ConnectionSettings(timeout=15)))
    for missing in (TopicPartition(topic, 7), TopicPartition("nowhere", 0)):
        with pytest.raises(UnknownStreamError):
            offsets.stable_ends([TopicPartition(topic, 0), missing])
    offsets.close()
