"""What the wire writes to a real broker, read by librdkafka."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp_runtime.systems.kafka.wire.batch_format.compression import Compression, CompressionCodec
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.requests.request_retries import UnfinishedRequestError
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.stream_system import FencedError, RecordRefusedError, UnknownStreamError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.clients import consumed, created, end_of, producer
from tests.harness.kafka.record_contents import Content, batch, numbered
from tests.harness.machine.random_cases import share


@pytest.fixture
def writer(kafka: str) -> Iterator[WireProducer]:
    opened = WireProducer(kafka, str(uuid.uuid4()), ConnectionSettings(timeout=20))
    opened.initialise()
    yield opened
    opened.close()


contents = st.lists(
    st.tuples(
        st.none() | st.binary(max_size=80),
        st.none() | st.binary(max_size=80) | st.integers(0, 20_000).map(bytes),
        st.integers(0, 1_700_000_000_000),
    ),
    min_size=1,
    max_size=60,
)


Targets = dict[CompressionCodec, tuple[str, WireProducer]]


@pytest.fixture(scope="module")
def targets(kafka: str) -> Iterator[Targets]:
    """By codec, a topic and who writes to it."""
    with ExitStack() as opened:
        made: Targets = {}
        for codec in CompressionCodec:
            writer = WireProducer(
                kafka,
                str(uuid.uuid4()),
                ConnectionSettings(timeout=20),
                compression=Compression(codec),
                largest=3_000,
            )
            opened.callback(writer.close)
            writer.initialise()
            made[codec] = created(kafka), writer
        yield made


@given(
    given=st.lists(contents, min_size=1, max_size=3),
    first=st.integers(0, 3),
    codec=st.sampled_from(CompressionCodec),
)
@settings(max_examples=share(0.5))
def test_any_records_are_read_by_librdkafka_as_they_were_written(
    given: list[list[Content]], first: int, codec: CompressionCodec, kafka: str, targets: Targets
) -> None:
    topic, writer = targets[codec]
    start = end_of(kafka, topic)
    batches = [batch(each) for each in given]
    batches[0] = batches[0].slice(min(first, len(batches[0]) - 1))  # also what does not begin at its buffers
    for each in batches:
        writer.append(TopicPartition(topic, 0), each)
    end = writer.commit()[TopicPartition(topic, 0)]
    rows = [tuple(row.values()) for each in batches for row in each.to_pylist()]
    found = consumed(kafka, topic, start, end + 1)
    assert [row[1:] for row in found] == rows
    assert found[-1][0] + 1 == end


def test_records_without_a_time_are_written_now(kafka: str, writer: WireProducer) -> None:
    topic = created(kafka)
    writer.append(TopicPartition(topic, 0), batch([(b"k", b"v", None), (b"k", b"w", 5)]))
    writer.commit()
    late, early = consumed(kafka, topic, 0, 3)
    assert early[3] == 5
    assert (late[3] or 0) > 1_700_000_000_000


def test_large_transactions_reach_every_partition_in_order(kafka: str, writer: WireProducer) -> None:
    topic = created(kafka, partitions=3)
    for turn in range(20):
        for index in range(3):
            writer.append(TopicPartition(topic, index), numbered(1_000 * turn, 1_000, size=100))
    ends = writer.commit()
    assert ends == {TopicPartition(topic, index): 20_000 for index in range(3)}
    for index in range(3):
        found = consumed(kafka, topic, 0, 20_001, index)
        assert [row[1] for row in found] == [b"k%d" % number for number in range(20_000)]


def test_where_records_went_is_told_before_they_are_seen(kafka: str, writer: WireProducer) -> None:
    topic = created(kafka)
    writer.append(TopicPartition(topic, 0), numbered(0, 10))
    assert writer.flush() == {TopicPartition(topic, 0): 10}
    writer.append(TopicPartition(topic, 0), numbered(0, 5))
    assert writer.flush() == {TopicPartition(topic, 0): 15}
    assert consumed(kafka, topic, 0, 0) == []
    writer.commit()
    assert len(consumed(kafka, topic, 0, 16)) == 15


def test_a_transaction_of_nothing_needs_no_end(writer: WireProducer) -> None:
    assert writer.commit() == {}
    writer.abort()


def test_a_record_larger_than_a_batch_has_one_of_its_own(kafka: str, writer: WireProducer) -> None:
    topic = created(kafka, max_message_bytes="5000000")
    given = [(b"a", b"x" * 3_000_000, 1), (b"b", b"y", 2), (b"c", b"z" * 1_200_000, 3)]
    writer.append(TopicPartition(topic, 0), batch(given))
    writer.commit()
    assert [row[1:] for row in consumed(kafka, topic, 0, 4)] == given


def test_a_record_that_the_topic_does_not_take_is_refused_by_name(kafka: str, writer: WireProducer) -> None:
    topic = created(kafka)
    writer.append(TopicPartition(topic, 0), batch([(b"a", b"x" * 3_000_000, 1)]))
    with pytest.raises(RecordRefusedError, match=f"{topic}#0: MESSAGE_TOO_LARGE; .*max.message.bytes"):
        writer.commit()
    with pytest.raises(UnfinishedRequestError, match="has to be started again"):
        writer.commit()


def test_a_stream_that_is_not_there_is_unknown(writer: WireProducer) -> None:
    writer.append(TopicPartition("nowhere", 0), numbered(0, 1))
    with pytest.raises(UnknownStreamError):
        writer.commit()


def test_librdkafka_fences_the_wire(kafka: str, writer: WireProducer) -> None:
    topic, name = created(kafka), str(uuid.uuid4())
    ours = WireProducer(kafka, name)
    ours.initialise()
    ours.append(TopicPartition(topic, 0), numbered(0, 3))
    ours.flush()
    theirs = producer(kafka, transactional_id=name)
    theirs.init_transactions(30)
    ours.append(TopicPartition(topic, 0), numbered(3, 3))
    with pytest.raises(FencedError):
        ours.commit()
    assert consumed(kafka, topic, 0, 4) == []
    ours.close()
