"""The wire beside librdkafka, both reading what librdkafka wrote to a real broker."""

import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.stream_system import STORED, OutOfRangeError, UnknownStreamError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.clients import consumed, created, end_of, producer
from tests.harness.machine.random_cases import share

Row = tuple[int, bytes | None, bytes | None, int | None]


@pytest.fixture(scope="module")
def reader(kafka: str) -> Iterator[WireReader]:
    opened = WireReader(kafka, ConnectionSettings(timeout=20))
    yield opened
    opened.close()


def read(reader: WireReader, topic: str, start: int, end: int, partition: int = 0) -> list[Row]:
    found: list[Row] = []
    for part in reader.read(TopicPartition(topic, partition), start, end):
        assert part.schema == STORED
        part.validate(full=True)
        found += (tuple(row.values()) for row in part.to_pylist())
    return found


def transactional(bootstrap: str, **settings: object) -> Producer:
    made = producer(bootstrap, transactional_id=str(uuid.uuid4()), **settings)
    made.init_transactions(60)
    return made


def produce(to: Producer, topic: str, count: int, prefix: str = "value") -> None:
    for number in range(count):
        to.produce(topic, f"{prefix} {number}" * (number % 5), key=f"key {number % 7}")
        to.poll(0)
    assert to.flush(60) == 0


@st.composite
def written(draw: st.DrawFn) -> list[dict[str, object]]:
    contents = st.none() | st.binary(max_size=30) | st.integers(0, 3_000).map(bytes)
    names = st.text("abc", min_size=1, max_size=5)
    return [
        {
            "key": draw(contents),
            "value": draw(contents),
            "timestamp": draw(st.integers(1, 1_700_000_000_000)),
            "headers": draw(st.lists(st.tuples(names, contents), max_size=2)),
        }
        for _ in range(draw(st.integers(0, 40)))
    ]


CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture(scope="module")
def targets(kafka: str) -> dict[str, tuple[str, Producer]]:
    """By codec, a topic and who writes to it."""
    return {
        codec: (created(kafka), producer(kafka, compression_type=codec, batch_num_messages=15))
        for codec in CODECS
    }


@given(records=written(), codec=st.sampled_from(CODECS))
@settings(max_examples=share(0.5))
def test_any_records_are_read_as_librdkafka_reads_them(
    records: list[dict[str, object]],
    codec: str,
    kafka: str,
    targets: dict[str, tuple[str, Producer]],
    reader: WireReader,
) -> None:
    topic, to = targets[codec]
    start = end_of(kafka, topic)
    for record in records:
        to.produce(topic, **record)
    assert to.flush(60) == 0
    found = read(reader, topic, start, start + len(records))
    assert found == consumed(kafka, topic, start, start + len(records))
    assert [row[1:3] for row in found] == [(record["key"], record["value"]) for record in records]
    with_headers = reader.read(TopicPartition(topic, 0), start, start + len(records), headers=True)
    listed = [headers for part in with_headers for headers in part.column("headers").to_pylist()]
    assert [[(one["name"], one["value"]) for one in headers] for headers in listed] == [
        record["headers"] for record in records
    ]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_what_the_broker_compressed_with_javas_libraries_is_read(
    codec: str, kafka: str, reader: WireReader
) -> None:
    topic = created(kafka, compression_type=codec)
    produce(producer(kafka), topic, 5_000)
    assert read(reader, topic, 0, 5_000) == consumed(kafka, topic, 0, 5_000)


@pytest.mark.parametrize("prefix", ["value", "x" * 300])
def test_any_part_of_a_range_is_read(prefix: str, kafka: str, reader: WireReader) -> None:
    topic = created(kafka)
    produce(producer(kafka), topic, 3_000, prefix)
    everything = consumed(kafka, topic, 0, 3_000)
    for start, end in [(0, 3_000), (0, 1), (17, 18), (999, 2_500), (2_999, 3_000), (5, 5)]:
        assert read(reader, topic, start, end) == everything[start:end]


def test_transactions_that_were_aborted_are_left_out(kafka: str, reader: WireReader) -> None:
    topic = created(kafka)
    one, other, plain = transactional(kafka), transactional(kafka), producer(kafka)
    for turn in range(6):
        one.begin_transaction()
        other.begin_transaction()
        produce(one, topic, 20, f"one {turn}")
        produce(plain, topic, 3, f"plain {turn}")
        produce(other, topic, 20, f"other {turn}")
        one.commit_transaction() if turn % 2 else one.abort_transaction()
        other.commit_transaction() if turn % 3 else other.abort_transaction()
    end = end_of(kafka, topic)
    found = read(reader, topic, 0, end)
    assert found == consumed(kafka, topic, 0, end)
    assert len(found) == 6 * 3 + 3 * 20 + 4 * 20
    # Also from the middle of a transaction that came to nothing.
    for start in range(0, end, 7):
        assert read(reader, topic, start, end) == [row for row in found if row[0] >= start]


def test_a_range_may_end_with_a_marker(kafka: str, reader: WireReader) -> None:
    topic, to = created(kafka), transactional(kafka)
    to.begin_transaction()
    produce(to, topic, 3)
    to.commit_transaction()
    assert len(read(reader, topic, 0, 4)) == 3
    assert read(reader, topic, 3, 4) == []


def test_a_transaction_that_is_open_is_beyond_the_end(kafka: str) -> None:
    topic, to = created(kafka), transactional(kafka)
    produce(producer(kafka), topic, 2)
    to.begin_transaction()
    produce(to, topic, 3)
    reader = WireReader(kafka, ConnectionSettings(timeout=0.5))
    assert len(read(reader, topic, 0, 2)) == 2
    with pytest.raises(OutOfRangeError, match="ends at 2"):
        read(reader, topic, 0, 3)
    to.abort_transaction()
    assert len(read(reader, topic, 0, 6)) == 2
    reader.close()


def test_holes_that_compaction_left_are_passed(kafka: str, reader: WireReader) -> None:
    topic = created(
        kafka,
        cleanup_policy="compact",
        segment_ms="100",
        min_cleanable_dirty_ratio="0.001",
        max_compaction_lag_ms="100",
    )
    to = producer(kafka, batch_num_messages=100)
    produce(to, topic, 5_000)
    while True:
        found, seen = consumed(kafka, topic, 0, 5_000), read(reader, topic, 0, 5_000)
        if len(found) <= 500 and consumed(kafka, topic, 0, 5_000) == found:
            break  # nothing was compacted while both read
        produce(to, topic, 1)  # a segment is only closed by what is written after its time
    assert seen == found
    assert read(reader, topic, 1, 40) == [row for row in found if 1 <= row[0] < 40]


def test_times_of_the_broker_are_read_where_the_topic_wants_them(kafka: str, reader: WireReader) -> None:
    topic, to = created(kafka, message_timestamp_type="LogAppendTime"), producer(kafka)
    to.produce(topic, "late", timestamp=5)
    assert to.flush(60) == 0
    ((_, _, _, time),) = read(reader, topic, 0, 1)
    assert time == consumed(kafka, topic, 0, 1)[0][3]
    assert time != 5


def test_records_that_are_gone_are_out_of_range(kafka: str, reader: WireReader) -> None:
    topic = created(kafka)
    with pytest.raises(OutOfRangeError):
        read(reader, topic, 7, 9)


def test_a_stream_or_partition_that_is_not_there_is_unknown(kafka: str, reader: WireReader) -> None:
    with pytest.raises(UnknownStreamError, match="nowhere"):
        read(reader, "nowhere", 0, 1)
    with pytest.raises(UnknownStreamError, match="#3"):
        read(reader, created(kafka), 0, 1, partition=3)


def test_several_partitions_may_be_read_by_turns(kafka: str, reader: WireReader) -> None:
    topic, to = created(kafka, partitions=2), producer(kafka)
    for number in range(40_000):
        to.produce(topic, f"value {number}" * 30, partition=number % 2)
        to.poll(0)
    assert to.flush(60) == 0
    ranges = [reader.read(TopicPartition(topic, partition), 0, 20_000) for partition in range(2)]
    counts = [0, 0]
    for parts in zip(*ranges, strict=True):
        for partition, part in enumerate(parts):
            first = part.to_pylist()[0]
            assert first["value"].startswith(b"value %d" % (first["offset"] * 2 + partition))
            counts[partition] += len(part)
    assert counts == [20_000, 20_000]


def test_a_range_that_is_left_early_does_not_disturb_the_next(kafka: str, reader: WireReader) -> None:
    topic = created(kafka)
    produce(producer(kafka), topic, 30_000, "x" * 300)
    for part in reader.read(TopicPartition(topic, 0), 0, 30_000):
        assert part.num_rows < 30_000
        break
    assert [row[0] for row in read(reader, topic, 3, 9)] == list(range(3, 9))
