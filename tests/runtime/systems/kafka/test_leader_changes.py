"""While a partition has no leader that answers, its end is asked for again: no wrong one is given."""

import time
from collections.abc import Mapping
from contextlib import closing

from streamapp.tasks.partition import OffsetSpan
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import values
from tests.harness.kafka.broker import Broker
from tests.harness.machine.processes import until

PARTITIONS = 8
WATCHED_SECONDS = 6.0  # longer than a broker that was killed counts as alive


def _written(system: KafkaSystem, name: str) -> list[TopicPartition]:
    """The partitions of a new stream with records in each."""
    system.create(name, PARTITIONS)
    partitions = [TopicPartition(name, index) for index in range(PARTITIONS)]
    transaction = system.begin(f"{name}.checkpoint", 1)
    for partition in partitions:
        transaction.append(partition, values("one", "two"))
    transaction.commit()
    until(lambda: _all_is_seen(system.spans(partitions)), limit=60)
    return partitions


def _all_is_seen(spans: Mapping[TopicPartition, OffsetSpan]) -> bool:
    """Whether a reader sees what was written to each partition, which is as much everywhere."""
    ends = {span.end for span in spans.values()}
    return len(ends) == 1 and ends != {0}


def test_spans_stay_the_same_while_another_broker_takes_over(two_brokers: tuple[Broker, Broker]) -> None:
    keeps, goes = two_brokers
    with closing(KafkaSystem(f"{goes.bootstrap},{keeps.bootstrap}")) as system:
        partitions = _written(system, "stays")
        # A coordinator that dies before it has noted that all markers are written has them written again,
        # which moves the ends. A writer under the same name begins when that is noted.
        system.begin("stays.checkpoint", 2).abort()
        spans = system.spans(partitions)

        for disturb in (goes.kill, goes.start):
            disturb()
            end = time.monotonic() + WATCHED_SECONDS
            while time.monotonic() < end:
                assert system.spans(partitions) == spans
        assert {span.oldest for span in spans.values()} == {0}
        assert all(span.end > 0 for span in spans.values()), "the test wrote to each partition"


def test_records_that_a_leader_is_to_delete_who_is_away_go_later(two_brokers: tuple[Broker, Broker]) -> None:
    keeps, goes = two_brokers
    with closing(KafkaSystem(f"{goes.bootstrap},{keeps.bootstrap}")) as system:
        partitions = _written(system, "goes")
        goes.freeze()
        system.delete_before(dict.fromkeys(partitions, 1))  # which raises nothing
        goes.thaw()

        def deleted() -> bool:
            system.delete_before(dict.fromkeys(partitions, 1))
            return {span.oldest for span in system.spans(partitions).values()} == {1}

        until(deleted, limit=120)
