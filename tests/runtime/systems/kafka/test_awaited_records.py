"""Who waits for records is told by the leaders, and asks nobody over and over."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from streamapp_runtime.driver.wake_up import WakeUp
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import NOBODY, values, write
from tests.harness.kafka.shared_topics import remove

TOPIC = f"awaited-{os.getpid()}"
PARTITIONS = [TopicPartition(TOPIC, index) for index in range(3)]
LONG, SOON = 30.0, 5.0  # what nothing takes on a busy machine, and what everything does


@pytest.fixture
def system(kafka: str) -> Iterator[KafkaSystem]:
    remove(kafka, [TOPIC])
    with closing(KafkaSystem(kafka)) as system:
        system.create(TOPIC, len(PARTITIONS))
        yield system


@pytest.fixture
def writer(kafka: str, system: KafkaSystem) -> Iterator[KafkaSystem]:
    with closing(KafkaSystem(kafka)) as writer:
        yield writer


def ends_of(system: KafkaSystem) -> dict[TopicPartition, int]:
    return {partition: span.end for partition, span in system.spans(PARTITIONS).items()}


def waited(system: KafkaSystem, ends: dict[TopicPartition, int], seconds: float = LONG) -> float:
    """How long it was until records may have come."""
    begun = time.monotonic()
    assert system.await_records(ends, seconds)
    return time.monotonic() - begun


def test_a_record_that_is_committed_ends_the_wait(system: KafkaSystem, writer: KafkaSystem) -> None:
    ends = ends_of(system)
    later = threading.Timer(0.5, write, (writer, PARTITIONS[1], values("a")))
    later.start()
    assert 0.4 < waited(system, ends) < SOON
    later.join()
    assert ends_of(system)[PARTITIONS[1]] > ends[PARTITIONS[1]]


def test_a_record_that_has_come_already_ends_it_at_once(system: KafkaSystem, writer: KafkaSystem) -> None:
    ends = ends_of(system)
    write(writer, PARTITIONS[2], values("a"))
    assert waited(system, ends) < SOON


def test_a_record_in_an_open_transaction_does_not(system: KafkaSystem, writer: KafkaSystem) -> None:
    ends = ends_of(system)
    transaction = writer.begin(NOBODY, 0)
    transaction.append(PARTITIONS[0], values("a"))
    transaction.end_of(PARTITIONS[0])
    assert waited(system, ends, 1.0) > 0.9
    transaction.commit()
    assert waited(system, ends) < SOON


def test_the_wait_ends_when_its_time_is_over_and_goes_on_where_it_was(
    system: KafkaSystem, writer: KafkaSystem
) -> None:
    ends = ends_of(system)
    assert 0.2 < waited(system, ends, 0.3) < SOON
    write(writer, PARTITIONS[0], values("a"))
    assert waited(system, ends) < SOON


def test_the_answer_to_an_earlier_question_is_not_one_to_this(
    system: KafkaSystem, writer: KafkaSystem
) -> None:
    wake = WakeUp()
    wake.set()
    ends = ends_of(system)
    assert system.await_records(ends, LONG, wake)  # the brokers have the question still before them
    write(writer, PARTITIONS[0], values("a"))
    ends = ends_of(system)
    assert waited(system, ends, 1.0) > 0.9
    assert waited(system, {PARTITIONS[1]: ends[PARTITIONS[1]]}, 1.0) > 0.9
    write(writer, PARTITIONS[1], values("b"))
    assert waited(system, ends) < SOON


def test_another_thread_can_end_it(system: KafkaSystem) -> None:
    wake = WakeUp()
    threading.Timer(0.5, wake.set).start()
    begun = time.monotonic()
    assert system.await_records(ends_of(system), LONG, wake)
    assert 0.4 < time.monotonic() - begun < SOON
    wake.clear()
    begun = time.monotonic()
    assert system.await_records(ends_of(system), 0.5, wake)
    assert time.monotonic() - begun > 0.4


def test_a_topic_that_is_deleted_meanwhile_ends_it(kafka: str, system: KafkaSystem) -> None:
    ends = ends_of(system)
    later = threading.Timer(0.5, remove, (kafka, [TOPIC]))
    later.start()
    begun = time.monotonic()
    while system.await_records(ends, 1.0):
        assert time.monotonic() - begun < LONG
    later.join()
