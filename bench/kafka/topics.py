"""A broker of one's own with page views and users in topics of eight partitions, and what came out."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa

from bench.app_runs import page_views
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker import Broker

PARTITIONS = 8
OWNER = "bench.checkpoint"


@contextmanager
def broker_of_ones_own() -> Iterator[tuple[Broker, Path]]:
    """A broker, and a folder for what reads from it."""
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(Path(folder, "broker"), {"log.segment.bytes": str(1 << 30)})
        broker.start()
        try:
            yield broker, Path(folder)
        finally:
            broker.kill()


def fill(brokers: str, streams: Mapping[str, Iterator[pa.RecordBatch]]) -> None:
    """Make these topics and write their records, which get the time at which they are written."""
    with closing(KafkaSystem(brokers)) as system:
        system.create(OWNER, 1)
        for stream, records in streams.items():
            system.create(stream, PARTITIONS)
            for batch in records:
                unset = pa.nulls(len(batch), pa.int64())
                _append(system, stream, batch.set_column(2, RECORDS.field(2), unset))


def create(brokers: str, *topics: str) -> None:
    """Make topics with nothing in them."""
    with closing(KafkaSystem(brokers)) as system:
        for topic in topics:
            system.create(topic, PARTITIONS)


def committed(brokers: str, topic: str) -> Iterator[pa.RecordBatch]:
    """All that a reader of committed records finds."""
    with closing(KafkaSystem(brokers)) as system:
        spans = system.spans([TopicPartition(topic, index) for index in range(PARTITIONS)])
        for partition, span in spans.items():
            yield from system.read(partition, span.oldest, span.end)


def newest(brokers: str, topic: str) -> pa.Array:
    """The last value of each key; a key whose last value is none has been deleted."""
    values: dict[bytes, bytes | None] = {}
    for batch in committed(brokers, topic):
        values.update(zip(batch.column("key").to_pylist(), batch.column("value").to_pylist(), strict=True))
    return pa.array([value for value in values.values() if value is not None], pa.binary())


def check_joined(brokers: str, topic: str, views: int) -> None:
    """Every view that is no health check is there once."""
    wanted = page_views.real(page_views.views(views))
    found = sum(len(batch) for batch in committed(brokers, topic))
    if found != wanted:
        raise AssertionError(f"{found:,} rows came out of the join to {topic}, {wanted:,} should")


def on_kafka(app: str, brokers: str) -> str:
    """An app that is measured on an embedded log, on this cluster."""
    return app.replace("embedded: {path: data}", f'kafka: {{bootstrapServers: "{brokers}"}}')


def _append(system: KafkaSystem, stream: str, records: pa.RecordBatch) -> None:
    places = partition_of(records.column("key"), PARTITIONS)
    transaction = system.begin(OWNER, 1)
    for index in range(PARTITIONS):
        found = records.filter(pa.array(places == index))
        if len(found):
            transaction.append(TopicPartition(stream, index), found)
    transaction.commit()
