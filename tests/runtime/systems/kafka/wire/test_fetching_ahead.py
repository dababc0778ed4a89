"""Ranges that are fetched ahead, all with one request, beside ranges that are read alone."""

from collections.abc import Iterator, Sequence

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.stream_system import OffsetRange, OutOfRangeError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import created, end_of, producer
from tests.harness.machine.random_cases import share

PARTITIONS = 6
Row = tuple[object, ...]


@pytest.fixture(scope="module")
def reader(kafka: str) -> Iterator[WireReader]:
    opened = WireReader(kafka, ConnectionSettings(timeout=20))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def topic(kafka: str) -> str:
    """Partitions with transactions that came to something or nothing, compressed or not, and an empty one."""
    name = created(kafka, PARTITIONS)
    for codec in ("none", "lz4", "zstd"):
        to = producer(kafka, compression_type=codec, transactional_id=f"{name}-{codec}")
        to.init_transactions(60)
        for turn in range(4):
            to.begin_transaction()
            for number in range(30):
                to.produce(name, b"x" * number, key=str(turn), partition=number % (PARTITIONS - 1))
            to.commit_transaction() if turn % 2 else to.abort_transaction()
    return name


def rows(reader: WireReader, one: OffsetRange) -> list[Row]:
    batches = reader.read(one.partition, one.start, one.end)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def ranges_of(kafka: str, topic: str, cuts: Sequence[tuple[float, float]]) -> list[OffsetRange]:
    ranges = []
    for index, cut in enumerate(cuts):
        end = end_of(kafka, topic, index)
        low, high = sorted(int(part * end) for part in cut)
        if low < high:
            ranges.append(OffsetRange(TopicPartition(topic, index), low, high))
    return ranges


SHARE = st.floats(0, 1)


@settings(max_examples=share(0.25))
@given(cuts=st.lists(st.tuples(SHARE, SHARE), min_size=PARTITIONS, max_size=PARTITIONS))
def test_what_was_fetched_ahead_is_what_is_read(
    kafka: str, topic: str, reader: WireReader, cuts: list[tuple[float, float]]
) -> None:
    ranges = ranges_of(kafka, topic, cuts)
    alone = [rows(reader, one) for one in ranges]
    reader.fetch_ahead(ranges)
    assert [rows(reader, one) for one in ranges] == alone


def test_partitions_of_several_topics_may_be_named_in_any_order(kafka: str, reader: WireReader) -> None:
    names, to = [created(kafka, 2) for _ in range(3)], producer(kafka)
    for name in names:
        for index in range(2):
            to.produce(name, f"{name}#{index}", partition=index)
    assert to.flush(60) == 0
    ranges = [OffsetRange(TopicPartition(name, index), 0, 1) for index in range(2) for name in names]
    reader.fetch_ahead(ranges)
    assert [rows(reader, one)[0][2] for one in ranges] == [str(one.partition).encode() for one in ranges]


def test_what_was_fetched_ahead_needs_no_broker(kafka: str, reader: WireReader) -> None:
    name = created(kafka, 2)
    to = producer(kafka)
    for index in range(2):
        to.produce(name, b"value", partition=index)
    assert to.flush(60) == 0
    ranges = [OffsetRange(TopicPartition(name, index), 0, 1) for index in range(2)]
    reader.fetch_ahead(ranges)
    admin = AdminClient({"bootstrap.servers": kafka})
    for future in admin.delete_records(
        [confluent_kafka.TopicPartition(name, index, 1) for index in range(2)]
    ).values():
        future.result(30)
    assert [len(rows(reader, one)) for one in ranges] == [1, 1]
    with pytest.raises(OutOfRangeError):
        rows(reader, ranges[0])  # what was fetched is handed out once


def test_a_range_of_which_a_part_was_fetched_is_read_on(kafka: str) -> None:
    name, reader = created(kafka, 2), WireReader(kafka, ConnectionSettings(timeout=20))
    to = producer(kafka, batch_size=100_000)
    for number in range(400):
        to.produce(name, bytes(20_000), key=str(number), partition=number % 2)
    assert to.flush(60) == 0
    ranges = [OffsetRange(TopicPartition(name, index), 0, 200) for index in range(2)]
    reader.fetch_ahead(ranges)
    assert [len(rows(reader, one)) for one in ranges] == [200, 200]
    reader.close()


def test_another_range_than_the_one_that_was_fetched_is_asked_for(kafka: str, reader: WireReader) -> None:
    name = created(kafka)
    to = producer(kafka)
    for number in range(10):
        to.produce(name, str(number).encode())
    assert to.flush(60) == 0
    reader.fetch_ahead([OffsetRange(TopicPartition(name, 0), 0, 10)])
    assert [row[2] for row in rows(reader, OffsetRange(TopicPartition(name, 0), 5, 7))] == [b"5", b"6"]


def test_fetching_ahead_from_a_broker_that_was_killed_leaves_reading_as_it_is(broker: Broker) -> None:
    name, to = created(broker.bootstrap), producer(broker.bootstrap)
    to.produce(name, b"value")
    assert to.flush(60) == 0
    reader = WireReader(broker.bootstrap, ConnectionSettings(timeout=60))
    one = OffsetRange(TopicPartition(name, 0), 0, 1)
    assert len(rows(reader, one)) == 1
    broker.kill()
    reader.fetch_ahead([one])
    broker.start()
    assert len(rows(reader, one)) == 1
    reader.close()
