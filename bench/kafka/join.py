"""Page views joined with users over a real Kafka broker: CPU seconds, beside Kafka Streams and Spark.

All read the same topics of one broker on this machine (8 partitions, JSON of about 100 bytes, 100,000 users)
and write JSON to a topic of their own. StreamApp and Kafka Streams keep users in RocksDB or LMDB; so does
Spark, for which users are a stream that may change. What each takes to start is left out of rates, as are its
first views; CPU seconds are those of the whole process tree. The broker's own are told apart.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.engine import page_views
from bench.engine.apps import JOIN
from bench.engine.redis_server import cpu_of
from bench.engine.runs import REPOSITORY, Run, run_app
from bench.kafka.fetched import MissingError, spark, streams_classes
from bench.row import Aim, Row
from streamapp.tasks.partition import Partition
from streamapp_runtime.partitioning import partition_of
from streamapp_runtime.systems.kafka.log import KafkaSystem
from streamapp_runtime.systems.system import RECORDS
from tests.kafka.broker import Broker

VIEWS = 4_000_000
BATCH = 500_000
WARM = 1_000_000  # views that are left out of rates
PARTITIONS = 8
OWNER = "bench.checkpoint"
STOCK = {
    "stream_to_stream": ("Spark, stream-stream join", 10.0),
    "with_state": ("Spark, transformWithStateInPandas", 20.0),
}
STOCK_BATCHES = 3  # of 500,000 views, the first of which is left out


@dataclass(frozen=True, slots=True)
class Progress:
    """Views that were read, and the CPU seconds until then, of who reads and of the broker."""

    views: int
    cpu: float


def rows() -> Iterator[Row]:
    """The join by StreamApp, exactly once, then by others."""
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(Path(folder, "broker"), {"log.segment.bytes": str(1 << 30)})
        broker.start()
        try:
            _fill(broker.bootstrap)
            yield from _all(broker, Path(folder))
        finally:
            broker.kill()


def _all(broker: Broker, folder: Path) -> Iterator[Row]:
    spent = cpu_of(broker.pid)
    run = _ours(broker.bootstrap, folder)
    _check(broker.bootstrap, "enriched", VIEWS)
    rate = run.steady(WARM // BATCH)
    beside = f"the broker took {cpu_of(broker.pid) - spent:.0f} CPU s"
    yield Row(f"StreamApp, {VIEWS:,} views", rate, "rows/CPU s", beside=beside)
    for name, seconds in run.steps(WARM // BATCH).items():
        yield Row(f"  of a lane's time in {name}", seconds * 1e6, "us/row")
    for name, seconds in sorted(run.spent(WARM // BATCH).items()):
        yield Row(f"  of it in {name}", seconds * 1e6, "us/row")
    try:
        yield from _streams(broker, folder, rate)
        yield from _stock(broker, folder, rate)
    except MissingError as error:
        yield Row(f"left out: {error}", float("nan"), "")


def _streams(broker: Broker, folder: Path, ours: float) -> Iterator[Row]:
    for guarantee in ("exactly_once_v2", "at_least_once"):
        out = f"streams-{guarantee}"
        _created(broker.bootstrap, out)
        spent = cpu_of(broker.pid)
        classes, given = streams_classes(), [broker.bootstrap, out, guarantee, str(VIEWS), str(folder / out)]
        told = _told(["java", "-Xmx1g", "-cp", classes, "Joined", *given])
        _check(broker.bootstrap, out, VIEWS)
        rate = _rate(told)
        beside = f"the broker took {cpu_of(broker.pid) - spent:.0f} CPU s"
        yield Row(f"Kafka Streams, {guarantee}", rate, "rows/CPU s", beside=beside)
        yield Row("  CPU seconds that it takes for each of ours", ours / rate, "x", Aim(least=5.0))


def _stock(broker: Broker, folder: Path, ours: float) -> Iterator[Row]:
    python, jars = spark()
    for way, (name, aim) in STOCK.items():
        _created(broker.bootstrap, way)
        given = [way, broker.bootstrap, way, str(BATCH), str(folder / way), jars]
        told = _told([str(python), "-m", "bench.kafka.stock", *given], batches=STOCK_BATCHES)
        rate = _rate(told, warm=BATCH)
        yield Row(f"{name}, {told[-1].views:,} rows", rate, "rows/CPU s")
        yield Row("  CPU seconds that it takes for each of ours", ours / rate, "x", Aim(least=aim))


def _ours(brokers: str, folder: Path) -> Run:
    app = JOIN.replace("embedded: {path: data}", f'kafka: {{bootstrapServers: "{brokers}"}}')
    _created(brokers, "enriched")
    return run_app(app, folder / "data", rows=BATCH)


def _fill(brokers: str) -> None:
    with closing(KafkaSystem(brokers)) as system:
        system.create(OWNER, 1)
        for stream, records in (("users", page_views.users()), ("views", page_views.views(VIEWS))):
            system.create(stream, PARTITIONS)
            for batch in records:
                _append(
                    system, stream, batch.set_column(2, RECORDS.field(2), pa.nulls(len(batch), pa.int64()))
                )


def _append(system: KafkaSystem, stream: str, records: pa.RecordBatch) -> None:
    places = partition_of(records.column("key"), PARTITIONS)
    transaction = system.begin(OWNER, 1)
    for index in range(PARTITIONS):
        found = records.filter(pa.array(places == index))
        if len(found):
            transaction.append(Partition(stream, index), found)
    transaction.commit()


def _created(brokers: str, topic: str) -> None:
    with closing(KafkaSystem(brokers)) as system:
        system.create(topic, PARTITIONS)


def _check(brokers: str, topic: str, views: int) -> None:
    """Every view that is no health check is there once."""
    wanted = page_views.real(page_views.views(views))
    with closing(KafkaSystem(brokers)) as system:
        spans = system.spans([Partition(topic, index) for index in range(PARTITIONS)])
        found = sum(len(b) for p, span in spans.items() for b in system.read(p, span.oldest, span.end))
    if found != wanted:
        raise AssertionError(f"{found:,} rows came out of the join to {topic}, {wanted:,} should")


def _told(command: Sequence[str], *, batches: int = 0) -> list[Progress]:
    """What a process says of its progress; it is ended after so many batches where that is not 0."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    told: list[Progress] = []
    with subprocess.Popen(  # noqa: S603 - programs of our own
        command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        total = 0
        for line in process.stdout or ():
            if line.startswith("["):
                views, cpu = json.loads(line)
                total = total + views if batches else views
                told.append(Progress(total, cpu))
            if batches and len(told) == batches:
                process.terminate()
                break
    if len(told) < 2:
        raise MissingError(f"{command[0]} said too little of its progress")
    return told


def _rate(told: Sequence[Progress], warm: int = WARM) -> float:
    """Views for each CPU second after the first ones."""
    places = np.searchsorted([progress.views for progress in told], warm)
    first, last = told[int(places)], told[-1]
    return (last.views - first.views) / (last.cpu - first.cpu)
