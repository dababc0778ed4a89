"""While a partition has no leader that answers, its end is asked for again: no wrong one is given."""

import time

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from tests.harness.engine.record_values import values
from tests.harness.kafka.broker import Broker

PARTITIONS = [Partition("views", index) for index in range(8)]
WATCHED_SECONDS = 8.0  # longer than a broker that was killed counts as alive


def test_spans_stay_the_same_while_another_broker_takes_over(two_brokers: tuple[Broker, Broker]) -> None:
    keeps, goes = two_brokers
    system = KafkaSystem(f"{goes.bootstrap},{keeps.bootstrap}")
    system.create("views", len(PARTITIONS))
    transaction = system.begin("test.checkpoint", 1)
    for partition in PARTITIONS:
        transaction.append(partition, values("one", "two"))
    transaction.commit()
    spans = system.spans(PARTITIONS)

    for disturb in (goes.kill, goes.start):
        disturb()
        until = time.monotonic() + WATCHED_SECONDS
        while time.monotonic() < until:
            assert system.spans(PARTITIONS) == spans
    assert {span.oldest for span in spans.values()} == {0}
    assert all(span.end > 0 for span in spans.values()), "the test wrote to each partition"
    system.close()
