"""Kafka under each security: million records of about 110 bytes per CPU second of the client.

One partition of a real broker on this machine, written in transactions of 50,000 records and read whole.
The wire goes from and to Arrow, as the engine does it; librdkafka's clients from and to Python's bytes, and
Java's are Kafka's own tools for measuring. The start of Java, seen by a run for one record, is taken off.
The broker's CPU is not counted. Its JVM compiles as it does elsewhere, and not as brokers of tests do: one
that encrypts slowly has its readers wait for every few bytes.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import confluent_kafka
import pyarrow as pa
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from bench.app_runs.page_views import views
from bench.row import Aim, Compared, Row
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.stream_system import HEADERS, RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.jars import TO_BE_KILLED, jars
from tests.harness.kafka.secured_broker import PASSWORD, USER, certificate

RECORDS_WRITTEN = 500_000
BLOCK = 50_000
OWNER = "bench.checkpoint"
MECHANISM = "SCRAM-SHA-512"
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required"
GUARDS = {"LOGIN": "SASL_PLAINTEXT", "TLS": "SSL", "BOTH": "SASL_SSL"}
DEAREST = 1.35  # times the CPU of a plain connection


@dataclass(frozen=True, slots=True)
class Door:
    """A listener of the broker: its address, and the settings of clients that come by it."""

    protocol: str
    address: str
    settings: Mapping[str, str]

    def properties(self, folder: Path) -> Path:
        """The same for Java's clients, in a file."""
        settings = {name: value for name, value in self.settings.items() if "ssl.ca" not in name}
        settings |= {"isolation.level": "read_committed", "acks": "all"}
        if "ssl.ca.pem" in self.settings:
            settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(folder / "broker.crt")}
        if "sasl.username" in settings:
            user, password = settings.pop("sasl.username"), settings.pop("sasl.password")
            settings["sasl.jaas.config"] = f'{LOGIN} username="{user}" password="{password}";'
        file = folder / f"{self.protocol}.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        return file


def rows() -> Iterator[Row]:
    """Write and read by each client through each door, and what looking at checksums costs."""
    records = [batch.set_column(2, RECORDS.field(2), _no_times(batch)) for batch in views(RECORDS_WRITTEN)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shown, key = certificate(folder, "broker")
        (folder / "broker.pem").write_text(key + shown)
        settings = {
            "sasl.enabled.mechanisms": MECHANISM,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(folder / "broker.pem"),
        }
        for guard in ("login", "both"):
            settings[f"listener.name.{guard}.{MECHANISM.lower()}.sasl.jaas.config"] = f"{LOGIN};"
        os.environ["_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=4"
        broker = Broker(folder / "broker", settings, GUARDS)
        broker.start()
        try:
            _let_in(broker)
            yield from _measured(_doors(broker, shown), records, folder)
        finally:
            broker.kill()


def _let_in(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    user = UserScramCredentialUpsertion(USER, credential, PASSWORD.encode())
    admin.alter_user_scram_credentials([user])[USER].result(60)


def _doors(broker: Broker, shown: str) -> list[Door]:
    doors = [Door("PLAINTEXT", broker.bootstrap, {})]
    for guard, protocol in GUARDS.items():
        settings = {"security.protocol": protocol}
        if "SASL" in protocol:
            settings |= {"sasl.mechanism": MECHANISM, "sasl.username": USER, "sasl.password": PASSWORD}
        if "SSL" in protocol:
            settings["ssl.ca.pem"] = shown
        doors.append(Door(protocol, broker.guarded(guard), settings))
    return doors


def _measured(doors: list[Door], records: list[pa.RecordBatch], folder: Path) -> Iterator[Row]:
    plain: dict[str, float] = {}
    for door in doors:
        topic, rates = door.protocol.lower(), dict[str, float]()
        with closing(KafkaSystem(door.address, door.settings)) as system:
            system.create(topic, 1)
            system.create(OWNER, 1)
            where = TopicPartition(topic, 0)
            rates["write"] = _rate(partial(_write, system, where, records))
            end = system.spans([where])[where].end // 2  # it was written twice
            rates["read"] = _rate(partial(_read, system, where, end))
        for doing, rate in rates.items():
            aim = Aim(least=plain[doing] / DEAREST) if plain else None
            compared = Compared("plain", plain[doing]) if plain else None
            yield Row(f"{doing} by the wire, {door.protocol}", rate, "M records/s", aim, compared=compared)
        if not plain:
            plain = rates
            with closing(WireReader(door.address, check=False)) as reader:
                unchecked = _rate(partial(_read, reader, where, end))
            compared = Compared("checked", rates["read"])
            yield Row("the same, checksums not compared", unchecked, "M records/s", compared=compared)
            yield from _with_headers(door, records, rates)
        others = {
            "read by librdkafka": _rate(partial(_consume, door, topic)),
            "write by librdkafka": _rate(partial(_produce, door, topic, records)),
            "read by Java": _java_rate(partial(_java_read, door, topic, folder)),
            "write by Java": _java_rate(partial(_java_write, door, topic, folder)),
        }
        for name, rate in others.items():
            compared = Compared("by the wire", rates[name.partition(" ")[0]])
            yield Row(f"{name}, {door.protocol}", rate, "M records/s", compared=compared)


def _with_headers(door: Door, records: list[pa.RecordBatch], without: Mapping[str, float]) -> Iterator[Row]:
    """The same records with a header each, as tracing adds one."""
    header = [{"name": "traceparent", "value": b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}]
    with_headers = [
        batch.append_column(HEADERS, pa.array([header] * len(batch), HEADERS.type)) for batch in records
    ]
    with closing(KafkaSystem(door.address, door.settings)) as system:
        system.create("headers", 1)
        where = TopicPartition("headers", 0)
        written = _rate(partial(_write, system, where, with_headers))
        end = system.spans([where])[where].end // 2
        passed_over = _rate(partial(_read, system, where, end))
        decoded = _rate(partial(_read, system, where, end, headers=True))
    for name, rate in (
        ("write by the wire, a header each", written),
        ("read by the wire, a header each that nobody reads", passed_over),
        ("read by the wire, a header each", decoded),
    ):
        compared = Compared("without headers", without[name.partition(" ")[0]])
        yield Row(name, rate, "M records/s", compared=compared)


def _no_times(batch: pa.RecordBatch) -> pa.Array:
    return pa.nulls(len(batch), pa.int64())


def _rate(work: Callable[[], object]) -> float:
    """Million records per CPU second, at the second time: the first one pays for what is loaded once."""
    work()
    start = time.process_time()
    work()
    return RECORDS_WRITTEN / (time.process_time() - start) / 1e6


def _write(system: KafkaSystem, partition: TopicPartition, records: list[pa.RecordBatch]) -> None:
    for batch in records:
        transaction = system.begin(OWNER, 1)
        transaction.append(partition, batch)
        transaction.put(OWNER, b"task 0", os.urandom(320))
        transaction.commit()


def _read(
    source: KafkaSystem | WireReader, partition: TopicPartition, end: int, *, headers: bool = False
) -> None:
    _check(sum(map(len, source.read(partition, 0, end, headers=headers))))


def _check(count: int) -> None:
    if count != RECORDS_WRITTEN:
        raise ValueError(f"read {count} records of {RECORDS_WRITTEN}")


def _clients(door: Door) -> dict[str, str | bool | int]:
    return {"bootstrap.servers": door.address, **door.settings}


def _consume(door: Door, topic: str) -> None:
    group: dict[str, str | bool | int] = {"group.id": "bench", "isolation.level": "read_committed"}
    consumer = Consumer(_clients(door) | group | {"fetch.queue.backoff.ms": 2})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    left = RECORDS_WRITTEN
    while left:
        for message in consumer.consume(min(left, 10_000), 1.0):
            _ = message.key(), message.value()
            left -= 1
    consumer.close()


def _produce(door: Door, topic: str, records: list[pa.RecordBatch]) -> None:
    held = {"queue.buffering.max.messages": 500_000, "batch.num.messages": 100_000, "linger.ms": 50}
    producer = Producer(_clients(door) | held | {"transactional.id": f"rdkafka-{door.protocol}"})
    producer.init_transactions()
    for batch in records:
        producer.begin_transaction()
        keys, values = batch.column(0).to_pylist(), batch.column(1).to_pylist()
        for key, value in zip(keys, values, strict=True):
            producer.produce(topic, value, key, partition=0)
        producer.commit_transaction()


def _java_rate(work: Callable[[int], list[str]]) -> float:
    """Million records per CPU second, without what the start of Java takes."""
    seconds = {}
    for count in (1, RECORDS_WRITTEN):
        before = os.times()
        subprocess.run(work(count), check=True, capture_output=True)  # noqa: S603 - tools of Kafka
        after = os.times()
        seconds[count] = sum(after[2:4]) - sum(before[2:4])
    return RECORDS_WRITTEN / (seconds[RECORDS_WRITTEN] - seconds[1]) / 1e6


def _java(tool: str) -> list[str]:
    folder = jars(TO_BE_KILLED, Path("tests", "e2e", "kafka", "pom.xml"), "-tools")
    return ["java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{folder}/*", f"org.apache.kafka.tools.{tool}"]


def _java_read(door: Door, topic: str, folder: Path, count: int) -> list[str]:
    options = {
        "bootstrap-server": door.address,
        "topic": topic,
        "messages": str(count),
        "consumer.config": str(door.properties(folder)),
        "group": f"java-{door.protocol}-{count}",
        "timeout": "60000",
    }
    return [*_java("ConsumerPerformance"), *(f"--{name}={value}" for name, value in options.items())]


def _java_write(door: Door, topic: str, folder: Path, count: int) -> list[str]:
    options = {
        "topic": topic,
        "num-records": str(count),
        "record-size": "110",
        "throughput": "-1",
        "producer.config": str(door.properties(folder)),
        "transactional-id": f"java-{door.protocol}",
        "transaction-duration-ms": "500",
    }
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    return [*_java("ProducerPerformance"), *given, "--producer-props", f"bootstrap.servers={door.address}"]
