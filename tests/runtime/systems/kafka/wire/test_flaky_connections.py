"""Connections that are cut, and bytes that are altered, anywhere: what is read and written stays exact."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import consumed, created
from tests.harness.kafka.flaky_proxy import BadWay
from tests.harness.kafka.record_contents import numbered

PATIENT = ConnectionSettings(timeout=60)


@pytest.fixture(scope="module")
def ways(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, list[BadWay]]]:
    """A broker with two bad ways: one cuts, the other alters what comes back as well."""
    guards = {"CUT": "PLAINTEXT", "ALTERED": "PLAINTEXT"}
    broker = Broker(tmp_path_factory.mktemp("ways") / "broker", guards=guards)
    found = [
        BadWay(broker.guarded("CUT"), 1, 16_000_000, alters=False),
        BadWay(broker.guarded("ALTERED"), 2, 16_000_000, alters=True),
    ]
    broker.told = dict(zip(guards, [way.address for way in found], strict=True))
    broker.start()
    yield broker, found
    broker.stop()
    for way in found:
        way.close()


@pytest.mark.parametrize("kind", [0, 1], ids=["cut", "altered"])
def test_ranges_are_read_whole_over_a_bad_way(ways: tuple[Broker, list[BadWay]], kind: int) -> None:
    broker, found = ways
    topic = created(broker.bootstrap)
    partition, count = TopicPartition(topic, 0), 60_000
    writer = WireProducer(broker.bootstrap, topic)
    writer.initialise()
    writer.append(partition, numbered(0, count, size=100))
    end = writer.commit()[partition]
    reader, before = WireReader(found[kind].address, PATIENT), found[kind].ended
    while found[kind].ended < before + 12:
        parts = list(reader.read(partition, 0, end))
        keys = [key for part in parts for key in part.column("key").to_pylist()]
        assert keys == [b"k%d" % number for number in range(count)]
        values = [value for part in parts for value in part.column("value").to_pylist()]
        assert values == [b"v%d" % number * 100 for number in range(count)]
    writer.close()
    reader.close()


def test_each_record_is_written_once_over_a_way_that_is_cut(ways: tuple[Broker, list[BadWay]]) -> None:
    broker, (way, _) = ways
    topic = created(broker.bootstrap)
    partition, count, turn = TopicPartition(topic, 0), 5_000, 0
    writer = WireProducer(way.address, topic, PATIENT, timeout_ms=300_000)
    writer.initialise()
    ended, expected, end = way.ended, list[bytes](), 0
    while way.ended < ended + 20:
        for _ in range(4):
            writer.append(partition, numbered(turn * count, count, size=60))
            expected += [b"k%d" % number for number in range(turn * count, (turn + 1) * count)]
            turn += 1
        end = writer.commit()[partition]
    assert [row[1] for row in consumed(broker.bootstrap, topic, 0, end)] == expected
    writer.close()
