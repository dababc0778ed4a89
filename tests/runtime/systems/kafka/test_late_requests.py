"""Requests that come to the broker long after their client has taken their connection for lost."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from tests.harness.engine.record_values import texts, values, write
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.broker_way import ADD_PARTITIONS, END_TRANSACTION, INIT_PRODUCER_ID
from tests.harness.kafka.clients import created
from tests.harness.kafka.late_proxy import LateWay

OWNER = "late.checkpoint"


@pytest.fixture(scope="module", params=[1, 2], ids="transaction.version={}".format)
def late(
    request: pytest.FixtureRequest, kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Broker, LateWay]]:
    """A broker with either version of transactions, and a way to it on which requests are held back."""
    broker = Broker(tmp_path_factory.mktemp("late") / "broker", guards={"WAY": "PLAINTEXT"})
    broker.features = {"transaction.version": request.param}
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
        taken_over = way.requests[INIT_PRODUCER_ID]
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
        has_own_epoch = broker.features["transaction.version"] > 1
        assert (way.requests[INIT_PRODUCER_ID] == taken_over) is has_own_epoch, "a new epoch is not asked for"
        assert (way.requests[ADD_PARTITIONS] == 0) is has_own_epoch, "leaders add partitions"
