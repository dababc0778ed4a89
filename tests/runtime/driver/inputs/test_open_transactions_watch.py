"""A transaction that stays open is named once it has been open for long, until it ends, on a real broker."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from confluent_kafka import Producer

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.open_transactions import (
    LOOK_SECONDS,
    OWN_PATIENCE_SECONDS,
    PATIENCE_SECONDS,
    OpenTransaction,
    OpenTransactionWatch,
    open_transactions_text,
)
from streamapp_runtime.driver.reporting.run_messages import open_transactions_message
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import StreamLocation
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from tests.harness.engine.one_system import HOME, OneSystem
from tests.harness.engine.watched_pages import PageClock
from tests.harness.kafka.clients import QUIET, created
from tests.harness.machine.processes import until


@pytest.fixture
def system(kafka: str) -> Iterator[KafkaSystem]:
    with closing(KafkaSystem(kafka)) as system:
        yield system


def writer(kafka: str, topic: str) -> Producer:
    """A producer in whose transactions tests write to a topic."""
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": f"of-{topic}", **QUIET})
    producer.init_transactions(30)
    return producer


def begun(producer: Producer, topic: str, partition: int, rows: int = 1) -> None:
    producer.begin_transaction()
    for _ in range(rows):
        producer.produce(topic, b"row", partition=partition)
    assert producer.flush(30) == 0


def located(system: KafkaSystem, **topics: str) -> Systems:
    systems = OneSystem(system)
    places = {stream: StreamLocation(HOME, topic) for stream, topic in topics.items()}
    return systems.relocated(replace(systems.connections, locations=places))


def test_a_transaction_that_stays_open_is_named_until_it_ends(kafka: str, system: KafkaSystem) -> None:
    topic, clock = created(kafka, 2), PageClock()
    views = [Partition("views", index) for index in range(2)]
    systems = located(system, views=topic)
    changes: list[tuple[OpenTransaction, ...]] = []
    watch, producer = OpenTransactionWatch(clock, changes.append), writer(kafka, topic)
    begun(producer, topic, 0, rows=3)
    producer.commit_transaction()
    until(lambda: not systems.open_transactions(views), 10)
    begun(producer, topic, 1)
    assert systems.open_transactions(views) == {Partition("views", 1): 0}
    named = []
    for _ in range(int(PATIENCE_SECONDS / LOOK_SECONDS) + 1):
        watch.look(systems, views, ())
        named.append(watch.lasting)
        clock.seconds += LOOK_SECONDS
    open_for_long = OpenTransaction(Partition("views", 1), 0)
    assert (named[-1], set(named[:-1])) == ((open_for_long,), {()})
    message = open_transactions_message(watch.lasting)
    assert (message.level, "views#1 from offset 0 on" in message.text) == ("warn", True)
    producer.commit_transaction()
    until(lambda: not systems.open_transactions(views), 10)
    watch.look(systems, views, ())
    assert watch.lasting == ()
    assert changes == [(open_for_long,), ()]
    assert "have ended" in open_transactions_message(watch.lasting).text


def test_transactions_that_follow_each_other_are_not_one(kafka: str, system: KafkaSystem) -> None:
    topic, clock = created(kafka), PageClock()
    streams, watch = [Partition("views", 0)], OpenTransactionWatch(clock)
    systems = located(system, views=topic)
    producer = writer(kafka, topic)
    for _ in range(3):
        begun(producer, topic, 0)
        watch.look(systems, streams, ())
        clock.seconds += PATIENCE_SECONDS - 1
        watch.look(systems, streams, ())
        assert watch.lasting == ()
        producer.commit_transaction()
        until(lambda: not systems.open_transactions(streams), 10)


def test_of_the_apps_own_streams_a_transaction_is_named_sooner(kafka: str, system: KafkaSystem) -> None:
    topic, clock = created(kafka), PageClock()
    streams = [Partition(name, 0) for name in ("by-user", "views")]
    systems = located(system, **{"by-user": topic, "views": topic})
    watch, producer = OpenTransactionWatch(clock), writer(kafka, topic)
    begun(producer, topic, 0)
    for _ in range(2):
        watch.look(systems, streams, own={"by-user"})
        clock.seconds += OWN_PATIENCE_SECONDS
    assert watch.lasting == (OpenTransaction(Partition("by-user", 0), 0),)
    producer.abort_transaction()


def test_brokers_are_asked_no_more_often_than_said(kafka: str, system: KafkaSystem) -> None:
    topic, clock = created(kafka), PageClock()
    streams, watch = [Partition("views", 0)], OpenTransactionWatch(clock)
    systems = located(system, views=topic)
    watch.look(systems, streams, ())
    producer = writer(kafka, topic)
    begun(producer, topic, 0)
    clock.seconds += LOOK_SECONDS - 0.1
    watch.look(systems, streams, ())  # not asked, or the transaction would count from here on
    clock.seconds += PATIENCE_SECONDS
    watch.look(systems, streams, ())
    assert watch.lasting == ()
    clock.seconds += PATIENCE_SECONDS
    watch.look(systems, streams, ())
    assert watch.lasting == (OpenTransaction(Partition("views", 0), 0),)
    producer.abort_transaction()


def test_of_many_partitions_the_first_are_named() -> None:
    text = open_transactions_text([OpenTransaction(Partition("views", index), 7) for index in range(5)])
    assert "views#0 from offset 7 on, views#1 from offset 7 on, views#2 from offset 7 on and 2 more" in text
