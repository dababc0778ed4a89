"""Brokers hear of a topic one after the other: what one of them has said holds, whoever is asked next."""

from contextlib import closing

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from tests.harness.kafka import shared_topics
from tests.harness.kafka.broker import Broker
from tests.harness.machine.processes import until

TOPICS = 8  # without asking again, about one in twenty of the answers was wrong
PARTITIONS = 30  # brokers take longer for more
ANSWERS = 4
HEARD_SECONDS = 30.0
"""Until the other broker has heard that a topic was deleted: it shows the topic until then."""


def test_a_topic_that_was_made_or_grown_is_there_whoever_is_asked(two_brokers: tuple[Broker, Broker]) -> None:
    keeps, goes = two_brokers
    with closing(KafkaSystem(f"{goes.bootstrap},{keeps.bootstrap}")) as system:
        for name in (f"views-{number}" for number in range(TOPICS)):
            system.create(name, PARTITIONS)
            system.create(name, PARTITIONS)  # as a driver that starts again does, which asks for its settings
            assert [system.latest(name, settled=False) for _ in range(ANSWERS)] == ANSWERS * [{}]
            system.grow(name, 2 * PARTITIONS)
            assert [system.partitions(name) for _ in range(ANSWERS)] == ANSWERS * [2 * PARTITIONS]


def test_a_topic_that_somebody_deleted_or_made_anew_is_seen_as_it_is(
    two_brokers: tuple[Broker, Broker],
) -> None:
    keeps, goes = two_brokers
    with (
        closing(KafkaSystem(f"{goes.bootstrap},{keeps.bootstrap}")) as system,
        closing(KafkaSystem(keeps.bootstrap)) as other,
    ):
        for name in ["visits", "views"]:
            system.create(name, 3)
        shared_topics.remove(keeps.bootstrap, ["visits", "views"])
        until(lambda: system.partitions("visits") is None, HEARD_SECONDS)
        other.create("views", 2)
        until(lambda: system.partitions("views") == 2, HEARD_SECONDS)
