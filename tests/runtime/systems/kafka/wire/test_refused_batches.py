"""Leaders that refuse a batch for a moment while others of the same producer are under way."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import closing
from pathlib import Path

import pytest

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.stream_system import TransactionAbortableError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import texts, values, write
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.broker_way import INIT_PRODUCER_ID, PRODUCE
from tests.harness.kafka.clients import consumed, created
from tests.harness.kafka.record_contents import numbered
from tests.harness.kafka.refusing_proxy import TRANSACTION_ABORTABLE, RefusingWay

COUNT = 30_000


@pytest.fixture(scope="module")
def refusing(
    kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Broker, RefusingWay]]:
    """A broker, and a way to it on which requests are refused."""
    broker = Broker(tmp_path_factory.mktemp("refusing") / "broker", guards={"WAY": "PLAINTEXT"})
    way = RefusingWay(broker.guarded("WAY"))
    broker.told = {"WAY": way.address}
    broker.start()
    yield broker, way
    broker.stop()
    way.close()


@pytest.mark.parametrize("refused", [{0}, {1}, {0, 1, 3}, {2, 4, 5}], ids=str)
def test_each_record_is_written_once_and_in_order(
    refusing: tuple[Broker, RefusingWay], refused: AbstractSet[int]
) -> None:
    broker, way = refusing
    topic = created(broker.bootstrap)
    way.refuse(topic, refused)
    partition = TopicPartition(topic, 0)
    writer = WireProducer(way.address, None, ConnectionSettings(timeout=20))
    writer.initialise()
    writer.append(partition, numbered(0, COUNT, size=50))
    end = writer.commit()[partition]
    assert way.requests[PRODUCE] > max(refused) + 1
    found = consumed(broker.bootstrap, topic, 0, end)
    assert [row[1] for row in found] == [b"k%d" % number for number in range(COUNT)]
    assert end == found[-1][0] + 1
    writer.close()


@pytest.mark.parametrize("refused", [0, 1], ids=["first", "second"])
def test_what_has_to_be_aborted_is_and_the_next_transaction_goes_on_under_its_name(
    refusing: tuple[Broker, RefusingWay], refused: int
) -> None:
    _, way = refusing
    topic = created(way.address)
    partition, owner = TopicPartition(topic, 0), f"{topic}.checkpoint"
    with closing(KafkaSystem(way.address)) as system:
        way.refuse(topic, set())
        write(system, partition, values("first"), owner=owner)
        way.refuse(topic, {refused}, TRANSACTION_ABORTABLE)
        aborted = system.begin(owner, 1)
        with pytest.raises(TransactionAbortableError, match=f"writing to {topic}#0: TRANSACTION_ABORTABLE"):
            for text in ("lost", "lost as well"):
                aborted.append(partition, values(text))
                aborted.end_of(partition)  # the broker has it, where it is not refused
        aborted.abort()
        write(system, partition, values("last"), owner=owner)
        assert texts(system, partition) == ["first", "last"]
    assert not way.requests[INIT_PRODUCER_ID], "nobody took over"
