"""Brokers that are killed, frozen and started again while the wire reads and writes."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSettings
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.request_retries import UnfinishedRequestError
from streamapp_runtime.systems.kafka.wire.wire_arrivals import WireArrivals
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.stream_system import DeniedError, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker import Broker, free_port
from tests.harness.kafka.clients import consumed, created, end_of, producer
from tests.harness.kafka.hostile_broker import HostileBroker, hostile_broker
from tests.harness.kafka.record_contents import numbered
from tests.harness.machine.processes import until

TOPIC_SIZE = 60_000
WAIT_SECONDS = 4.0


@pytest.fixture
def broker(lasting_broker: Broker) -> Iterator[Broker]:
    yield lasting_broker
    lasting_broker.revive()


def restart_soon(broker: Broker) -> threading.Thread:
    """Kill the broker at once and start it again beside what the test does."""
    broker.kill()
    starting = threading.Thread(target=broker.start)
    starting.start()
    return starting


def test_reading_goes_on_when_a_killed_broker_is_back(broker: Broker) -> None:
    topic, to = created(broker.bootstrap), producer(broker.bootstrap)
    for number in range(TOPIC_SIZE):
        to.produce(topic, b"%d" % number * 100)
        to.poll(0)
    assert to.flush(60) == 0
    reader, starting, offsets = (
        WireReader(broker.bootstrap, ConnectionSettings(timeout=60)),
        None,
        list[int](),
    )
    for part in reader.read(TopicPartition(topic, 0), 0, TOPIC_SIZE):
        offsets += part.column("offset").to_pylist()
        starting = starting or restart_soon(broker)
    assert starting
    starting.join()
    assert offsets == list(range(TOPIC_SIZE))
    reader.close()


def has_word_of(arrivals: WireArrivals, partition: TopicPartition, end: int) -> bool:
    """Whether the leader says within a moment that there is more."""
    begun = time.monotonic()
    return arrivals.wait({partition: end}, WAIT_SECONDS, None) and time.monotonic() - begun < WAIT_SECONDS / 2


def waiting_for_a_second_record(broker: Broker) -> tuple[WireArrivals, TopicPartition]:
    """Who waits, and for what: a partition that has one record."""
    topic, to = created(broker.bootstrap), producer(broker.bootstrap)
    to.produce(topic, b"1")
    assert to.flush(60) == 0
    arrivals = WireArrivals(BrokerPool(broker.bootstrap, ConnectionSettings(timeout=60)))
    return arrivals, TopicPartition(topic, 0)


def test_who_waits_for_records_hears_of_them_when_a_killed_broker_is_back(broker: Broker) -> None:
    arrivals, partition = waiting_for_a_second_record(broker)
    assert not has_word_of(arrivals, partition, 1)
    assert has_word_of(arrivals, partition, 0)
    assert arrivals.wait({partition: 1}, 0.1, None)
    broker.kill()
    assert not arrivals.wait({partition: 1}, WAIT_SECONDS, None)
    broker.start()
    until(lambda: has_word_of(arrivals, partition, 0), limit=60)
    arrivals.close()


def test_who_waits_for_records_gives_up_a_broker_that_is_frozen(broker: Broker) -> None:
    arrivals, partition = waiting_for_a_second_record(broker)
    until(lambda: arrivals.wait({partition: 1}, 0.1, None), limit=60)
    broker.freeze()
    until(lambda: not arrivals.wait({partition: 1}, 0.1, None), limit=60)
    broker.thaw()
    until(lambda: has_word_of(arrivals, partition, 0), limit=60)
    arrivals.close()


def test_a_transaction_goes_on_when_a_killed_broker_is_back(broker: Broker) -> None:
    topic, writer = (
        created(broker.bootstrap),
        WireProducer(broker.bootstrap, "w", ConnectionSettings(timeout=60), timeout_ms=300_000),
    )
    partition = TopicPartition(topic, 0)
    writer.initialise()
    writer.append(partition, numbered(0, 3_000))
    writer.flush()
    starting = restart_soon(broker)
    writer.append(partition, numbered(3_000, 20_000, size=100))
    ends = writer.commit()
    starting.join()
    assert ends == {partition: 23_000}
    found = consumed(broker.bootstrap, topic, 0, 23_001)
    assert [row[1] for row in found] == [b"k%d" % number for number in range(23_000)]
    writer.close()


@pytest.mark.parametrize(
    "megabytes", [pytest.param(1, marks=pytest.mark.nightly), 3, pytest.param(6, marks=pytest.mark.nightly)]
)
def test_a_broker_killed_while_batches_are_under_way_has_each_once(broker: Broker, megabytes: int) -> None:
    topic, writer = (
        created(broker.bootstrap),
        WireProducer(broker.bootstrap, "w", ConnectionSettings(timeout=60), timeout_ms=300_000),
    )
    partition = TopicPartition(topic, 0)
    writer.initialise()
    for turn in range(4):
        writer.append(partition, numbered(5_000 * turn, 5_000, size=100))
    with ThreadPoolExecutor(1) as pool:
        ends = pool.submit(writer.commit)
        while broker.held(topic) < megabytes << 20:
            assert not ends.done() or ends.result()
        restart_soon(broker).join()
        assert ends.result() == {partition: 20_000}
    found = consumed(broker.bootstrap, topic, 0, 20_001)
    assert [row[1] for row in found] == [b"k%d" % number for number in range(20_000)]
    writer.close()


def test_a_broker_that_does_not_answer_is_out_of_reach(broker: Broker) -> None:
    topic, to = created(broker.bootstrap), producer(broker.bootstrap)
    to.produce(topic, "value")
    assert to.flush(60) == 0
    patient, hasty = (
        WireProducer(broker.bootstrap, "w", ConnectionSettings(timeout=60), timeout_ms=300_000),
        ConnectionSettings(timeout=2),
    )
    reader, writer = WireReader(broker.bootstrap, hasty), WireProducer(broker.bootstrap, "w", hasty)
    patient.initialise()  # from here on the broker is up to it
    writer.initialise()
    assert [len(part) for part in reader.read(TopicPartition(topic, 0), 0, 1)] == [1]
    broker.freeze()
    try:
        with pytest.raises(UnavailableError, match=f"reading {topic}#0"):
            list(reader.read(TopicPartition(topic, 0), 0, 1))
        writer.append(TopicPartition(topic, 0), numbered(0, 1))
        with pytest.raises(UnavailableError, match='"w"'):
            writer.commit()
    finally:
        broker.thaw()
    patient.initialise()  # voids what may have been begun
    patient.append(TopicPartition(topic, 0), numbered(5, 1))
    end = patient.commit()[TopicPartition(topic, 0)]
    assert [row[1] for row in consumed(broker.bootstrap, topic, 0, end)] == [None, b"k5"]
    for each in (reader, writer, patient):
        each.close()


@pytest.mark.usefixtures("loopback")
def test_nobody_at_the_address_is_out_of_reach() -> None:
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(UnavailableError, match="refused"):
        list(WireReader(address, ConnectionSettings(timeout=0.2)).read(TopicPartition("any", 0), 0, 1))
    with pytest.raises(UnavailableError, match="refused"):
        WireProducer(address, "w", ConnectionSettings(timeout=0.2)).initialise()


@pytest.mark.usefixtures("loopback")
def test_who_does_not_speak_the_protocol_is_out_of_reach() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        server.settimeout(1)  # then nobody asks any more

        def answer() -> None:
            with suppress(TimeoutError):
                while True:
                    with server.accept()[0] as connection:
                        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        answering = pool.submit(answer)
        address = "{}:{}".format(*server.getsockname())
        with pytest.raises(UnavailableError, match="does not speak Kafka"):
            list(WireReader(address, ConnectionSettings(timeout=0.3)).read(TopicPartition("any", 0), 0, 1))
        answering.result()


@pytest.mark.usefixtures("loopback")
def test_a_broker_without_a_request_that_is_needed_is_refused_at_once() -> None:
    with hostile_broker(HostileBroker()) as old:
        refusal = f"{old.address} does not have Metadata in a version from 7 to 7 .it has 0 to 4., which"
        with pytest.raises(DeniedError, match=refusal):
            list(WireReader(old.address, ConnectionSettings(timeout=60)).read(TopicPartition("any", 0), 0, 1))


def test_a_transaction_left_open_too_long_is_dropped_and_its_writer_has_to_start_anew(
    broker: Broker,
) -> None:
    topic, writer = created(broker.bootstrap), WireProducer(broker.bootstrap, "w", timeout_ms=500)
    writer.initialise()
    writer.append(TopicPartition(topic, 0), numbered(0, 3))
    writer.flush()
    while end_of(broker.bootstrap, topic) <= 3:  # the marker that drops it has an offset too
        pass
    with pytest.raises(UnfinishedRequestError, match="INVALID_TXN_STATE"):
        writer.commit()
    assert consumed(broker.bootstrap, topic, 0, 4) == []
    writer.close()
