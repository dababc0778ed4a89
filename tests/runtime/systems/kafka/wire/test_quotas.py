"""A client that brokers throttle waits as long as they say, and tells for how long it did."""

import random
from contextlib import closing

import pytest

from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.requests.fetch_request import FetchLimits
from streamapp_runtime.systems.kafka.wire.wire_offsets import WireOffsets
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import values
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.broker_way import END_TRANSACTION, PRODUCE
from tests.harness.kafka.clients import created
from tests.harness.kafka.record_contents import numbered
from tests.harness.memory_kafka.memory_cluster import FETCH, LIST_OFFSETS, TOPIC, MemoryCluster
from tests.harness.memory_kafka.memory_network import MemoryNetwork

THROTTLE_SECONDS = 0.7
PARTITION = TopicPartition(TOPIC, 0)


@pytest.mark.parametrize("version", [1, 2])
def test_the_next_request_waits_and_the_wait_is_told(version: int) -> None:
    chance = random.Random(1)  # noqa: S311
    network, trouble = MemoryNetwork(chance, (), 0.0), BrokerTrouble()
    cluster = MemoryCluster(chance, network, version, 1)
    settings = ConnectionSettings(network=network)
    writer = WireProducer("0:9092", "throttled", settings, trouble=trouble)
    offsets = WireOffsets(BrokerPool("0:9092", settings, trouble))
    reader = WireReader("0:9092", settings, trouble=trouble)
    writer.initialise()

    def write(text: str) -> float:
        begun = network.now()
        writer.append(PARTITION, values(text))
        writer.commit()
        return network.now() - begun

    unthrottled = write("first")
    assert unthrottled < THROTTLE_SECONDS
    assert trouble.throttled_seconds == 0.0

    cluster.throttle_ms = int(THROTTLE_SECONDS * 1000)
    cluster.throttled = {PRODUCE}
    assert write("second") == pytest.approx(unthrottled + THROTTLE_SECONDS, abs=0.01)  # the end of it waited
    assert trouble.throttled_seconds == pytest.approx(THROTTLE_SECONDS, abs=0.01)
    cluster.throttled = {END_TRANSACTION, LIST_OFFSETS}
    write("third")
    before = trouble.throttled_seconds
    assert write("fourth") >= THROTTLE_SECONDS
    assert trouble.throttled_seconds > before

    end = offsets.stable_ends([PARTITION])[PARTITION]
    before, cluster.throttled, cluster.empty_fetches = trouble.throttled_seconds, {FETCH}, 3
    rows = [row for part in reader.read(PARTITION, 0, end) for row in part.column("value").to_pylist()]
    assert rows == [b"first", b"second", b"third", b"fourth"]
    assert trouble.throttled_seconds == pytest.approx(before + 3 * THROTTLE_SECONDS, abs=0.01)


def test_a_broker_with_a_quota_is_waited_for_and_loses_nothing(broker: Broker) -> None:
    """It answers a Fetch by no partition at all, once what was read is more than the quota."""
    command = ("kafka.admin.ConfigCommand", "--bootstrap-server", broker.bootstrap, "--alter")
    quota = ("--add-config", "consumer_byte_rate=200000,producer_byte_rate=200000")
    broker.run_tool(*command, "--entity-type", "clients", "--entity-name", "throttled", *quota)
    partition = TopicPartition(created(broker.bootstrap), 0)
    settings = ConnectionSettings(client="throttled", timeout=60)
    for_writes, for_reads = BrokerTrouble(), BrokerTrouble()
    writer = WireProducer(broker.bootstrap, "throttled", settings, trouble=for_writes)
    reader = WireReader(broker.bootstrap, settings, limits=FetchLimits(partition=800_000), trouble=for_reads)
    with closing(writer), closing(reader):
        writer.initialise()
        for number in range(5):
            writer.append(partition, numbered(1_000 * number, 1_000, size=100))
            writer.flush()
        end = writer.commit()[partition]
        keys = [key for part in reader.read(partition, 0, end) for key in part.column("key").to_pylist()]
    assert keys == [b"k%d" % number for number in range(5_000)]
    assert for_writes.throttled_seconds > 0
    assert for_reads.throttled_seconds > 0
