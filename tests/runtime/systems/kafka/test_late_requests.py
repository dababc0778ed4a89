"""Requests that come to the broker long after their client has taken their connection for lost."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from tests.harness.engine.record_values import texts, values, write
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import created
from tests.harness.kafka.late_proxy import END_TRANSACTION, LateWay

OWNER = "late.checkpoint"


@pytest.fixture(scope="module")
def late(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, LateWay]]:
    """A broker, and a way to it on which requests are held back."""
    broker = Broker(tmp_path_factory.mktemp("late") / "broker", guards={"WAY": "PLAINTEXT"})
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
    partition = Partition(created(broker.bootstrap), 0)
    with closing(KafkaSystem(way.address)) as system, closing(KafkaSystem(broker.bootstrap)) as reader:
        first = system.begin(OWNER, 1)
        first.append(partition, values("first"))
        first.end_of(partition)  # the broker has it
        way.hold(END_TRANSACTION)
        if commits:
            first.commit()
        else:
            first.abort()
        following = system.begin(OWNER, 1)
        following.append(partition, values("second"))
        following.end_of(partition)
        error = way.let_through()
        if commits:
            following.abort()
        else:
            following.commit()
        write(reader, partition, values("last"))  # behind the end of both
        assert texts(reader, partition) == ["first" if commits else "second", "last"]
        assert error, "the broker took a late request for the end of the next transaction"
