"""Records into a second cluster: thousands for each CPU second, and how late one is, beside MirrorMaker 2.

Records of 100 bytes are written on one broker and come to another one exactly once: by the delivery of an
outbox, and by MirrorMaker 2 in its dedicated mode with one task. All of them come several times; the first
ones warm up: MirrorMaker 2 gets faster for some millions. CPU seconds are those of what delivers: brokers do
not count, nor who writes and reads. How late a record is counts from its commit in the one cluster until a
reader of committed records has it in the other, one record after the other.
"""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from bench.app_runs.redis_server import cpu_of
from bench.kafka.fetched import MissingError, classes
from bench.kafka.topics import OWNER, broker_of_ones_own
from bench.row import Compared, Row
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.checkpoints.outbox_delivery import OutboxDeliveries
from streamapp_runtime.driver.start.app_storage import storage_of
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.core.app_resources import app_resource
from tests.harness.kafka.broker import free_port

COUNT, BATCH, BYTES, PARTITIONS = 600_000, 60_000, 100, 3
WARM_ROUNDS, ROUNDS, SINGLES = 8, 3, 100
PATIENCE = 180.0
HOME, OTHER, STREAM = "main", "shop", "orders"
LINK: Final = f"{HOME}->{OTHER}"
EXACTLY_ONCE: Final[Mapping[str, str]] = {
    f"{OTHER}.exactly.once.source.support": "enabled",
    "dedicated.mode.enable.internal.rest": "true",  # which exactly once needs
}
SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "MirrorMaker 2": EXACTLY_ONCE,
    "MirrorMaker 2, a transaction each 100 ms": {
        **EXACTLY_ONCE,
        f"{LINK}.transaction.boundary": "interval",
        f"{LINK}.transaction.boundary.interval.ms": "100",
    },
}
"""The ways to mirror, with their settings besides the defaults."""
_REPLICATED = (
    "",
    "heartbeats.topic.",
    "checkpoints.topic.",
    "offset-syncs.topic.",
    "config.storage.",
    "offset.storage.",
    "status.storage.",
)


@dataclass(slots=True)
class Writer:
    """The writer of a topic, and how many records it has written."""

    system: KafkaSystem
    topic: str
    written: int = 0

    def write_all(self) -> None:
        """All records once, in transactions as large as batches."""
        for _ in range(COUNT // BATCH):
            self.write(_BATCH)

    def write(self, records: Sequence[pa.RecordBatch]) -> None:
        """One transaction, with records for the first partitions."""
        transaction = self.system.begin(OWNER, 1)
        for index, batch in enumerate(records):
            transaction.append(TopicPartition(self.topic, index), batch)
            self.written += len(batch)
        transaction.put(OWNER, b"task 0", os.urandom(320))
        transaction.commit()


@dataclass(slots=True)
class Reader:
    """The committed records of a topic, counted."""

    system: KafkaSystem
    topic: str
    count: int = 0
    _ends: dict[TopicPartition, int] = field(init=False)

    def __post_init__(self) -> None:
        self._ends = {TopicPartition(self.topic, index): 0 for index in range(PARTITIONS)}

    @property
    def has_transactions(self) -> bool:
        """True if their ends take offsets of their own."""
        return sum(self._ends.values()) > self.count

    def await_count(self, count: int) -> None:
        """Return once there are so many; MissingError where they do not come."""
        until = time.monotonic() + PATIENCE
        while self.count < count:
            if time.monotonic() > until:
                raise MissingError(f"{self.count:,} of {count:,} records came to {self.topic}")
            self.system.await_records(self._ends, 1.0)
            for partition, span in self.system.spans(self._ends).items():
                self.count += sum(map(len, self.system.read(partition, self._ends[partition], span.end)))
                self._ends[partition] = span.end


@dataclass(slots=True)
class Measured:
    """The CPU seconds and the clock of each round, and how late single records were."""

    cpu: list[float] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)

    @contextmanager
    def round(self, process: int | None = None) -> Iterator[None]:
        """What a process takes as long as this lasts, or this one."""
        clock, cpu = time.monotonic(), _cpu(process)
        yield
        self.cpu.append(_cpu(process) - cpu)
        self.clock.append(time.monotonic() - clock)

    def single(self, writer: Writer, reader: Reader) -> None:
        """How late records are that come alone."""
        for _ in range(SINGLES):
            writer.write(_SINGLE)
            committed = time.monotonic()
            reader.await_count(writer.written)
            self.late_ms.append((time.monotonic() - committed) * 1e3)

    @property
    def rate(self) -> float:
        """Thousands of records for each CPU second, when warm."""
        return COUNT * ROUNDS / sum(self.cpu[WARM_ROUNDS:]) / 1e3

    @property
    def late(self) -> float:
        """How late a record is, in milliseconds."""
        return float(np.median(self.late_ms))

    def rows(self, name: str, ours: "Measured | None" = None) -> Iterator[Row]:
        """The figures, beside ours."""
        clock = f"{sum(self.clock[WARM_ROUNDS:]) / ROUNDS:.2f} s for {COUNT:,}"
        compared = Compared("the delivery", ours.rate) if ours else None
        yield Row(name, self.rate, "k records/CPU s", None, clock, compared)
        if self.late_ms:
            p99 = f"p99 {np.percentile(self.late_ms, 99):,.1f} ms"
            compared = Compared("the delivery", ours.late) if ours else None
            yield Row(f"{name}, how late one is, median", self.late, "ms", None, p99, compared)


def rows() -> Iterator[Row]:
    """What writing at home takes, then the delivery, then MirrorMaker 2."""
    with ExitStack() as opened:
        (home, folder), (other, _) = (opened.enter_context(broker_of_ones_own()) for _ in range(2))
        brokers = {HOME: home.bootstrap, OTHER: other.bootstrap}
        at_home, elsewhere = (
            opened.enter_context(closing(KafkaSystem(address))) for address in brokers.values()
        )
        at_home.create(OWNER, 1)
        yield from _written(at_home).rows("written at home")
        ours = _delivered(_app(brokers), folder, at_home, elsewhere)
        yield from ours.rows("delivered into the other")
        for number, (name, settings) in enumerate(SETTINGS.items()):
            writer = Writer(at_home, f"mirrored-{number}")
            reader = Reader(elsewhere, f"{HOME}.{writer.topic}")
            try:
                with _mirror(folder, writer.topic, brokers, settings) as process:
                    measured = _mirrored(process, writer, reader)
                yield from measured.rows(name, ours)
            except MissingError as error:
                yield Row(f"{name} is left out: {error}", float("nan"), "")


def _app(brokers: Mapping[str, str]) -> StreamApp:
    systems = [{"name": name, "kafka": {"bootstrapServers": address}} for name, address in brokers.items()]
    streams = [{"name": "in", "columns": "n INT"}, {"name": STREAM, "system": OTHER}]
    send = {"name": "send", "sendTo": {"from": "in", "stream": STREAM}}
    return parse_data(app_resource([send], streams, applicationId="bench", systems=systems)).apps[0]


def _written(at_home: KafkaSystem) -> Measured:
    writer, measured = Writer(at_home, "written"), Measured()
    at_home.create(writer.topic, PARTITIONS)
    for _ in range(WARM_ROUNDS + ROUNDS):
        with measured.round():
            writer.write_all()
    return measured


def _delivered(app: StreamApp, folder: Path, at_home: KafkaSystem, elsewhere: KafkaSystem) -> Measured:
    connections = storage_of(app, folder / "state").systems
    writer, reader = Writer(at_home, connections.outboxes[STREAM]), Reader(elsewhere, STREAM)
    at_home.create(writer.topic, PARTITIONS)
    elsewhere.create(STREAM, PARTITIONS)
    deliveries, measured = OutboxDeliveries(app, connections), Measured()
    try:
        for _ in range(WARM_ROUNDS + ROUNDS):
            writer.write_all()
            with measured.round():
                deliveries.deliver_all()
            reader.await_count(writer.written)
        deliveries.start()
        measured.single(writer, reader)
    finally:
        deliveries.close()
    return measured


def _mirrored(process: int, writer: Writer, reader: Reader) -> Measured:
    measured = Measured()
    writer.system.create(writer.topic, PARTITIONS)
    reader.system.create(reader.topic, PARTITIONS)
    for _ in range(WARM_ROUNDS + ROUNDS):
        with measured.round(process):
            writer.write_all()
            reader.await_count(writer.written)
    measured.single(writer, reader)
    if not reader.has_transactions:
        raise MissingError("it is not exactly once")
    return measured


@contextmanager
def _mirror(
    folder: Path, topic: str, brokers: Mapping[str, str], settings: Mapping[str, str]
) -> Iterator[int]:
    """The process of MirrorMaker 2 that has a topic from one cluster in the other."""
    file = folder / f"{topic}.properties"
    given = {f"{name}.bootstrap.servers": address for name, address in brokers.items()} | {
        "clusters": ", ".join(brokers),
        f"{OTHER}.group.id": topic,
        "listeners": f"http://127.0.0.1:{free_port()}",
        f"{LINK}.enabled": "true",
        f"{LINK}.topics": topic,
        f"{HOME}.consumer.isolation.level": "read_committed",
        **{f"{part}replication.factor": "1" for part in _REPLICATED},
        **settings,
    }
    file.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    program = ["org/apache/kafka/connect/mirror/MirrorMaker", str(file)]
    log = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
    command = ["java", "-Xmx1g", log, "-cp", classes("mirror"), *program]
    with (
        (folder / f"{topic}.log").open("w") as words,
        subprocess.Popen(command, stdout=words, stderr=words) as process,  # noqa: S603 - Kafka's own
    ):
        try:
            yield process.pid
        finally:
            process.kill()


def _cpu(process: int | None) -> float:
    return time.process_time() if process is None else cpu_of(process)


def _records(count: int) -> pa.RecordBatch:
    keys = pa.array([b"%d" % number for number in range(count)], pa.binary())
    return pa.record_batch(
        [keys, pa.array([b"x" * BYTES] * count, pa.binary()), pa.nulls(count, pa.int64())], schema=RECORDS
    )


_BATCH = [_records(BATCH // PARTITIONS)] * PARTITIONS
_SINGLE = [_records(1)]
