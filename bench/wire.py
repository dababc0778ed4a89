"""Kafka by its protocol and by librdkafka: million records of about 110 bytes per CPU second of the client.

One partition of a real broker on this machine, written in transactions of 50,000 records, both ways from and
to Arrow as the engine does it. The broker's own CPU seconds are not counted.
"""

import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pyarrow as pa
from streamapp_runtime.systems.kafka.rdkafka_reader import RangeReader

from bench.app_runs.page_views import views
from bench.row import Aim, Compared, Row
from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader
from streamapp_runtime.systems.stream_system import RECORDS
from tests.harness.kafka.broker import Broker

RECORDS_WRITTEN = 500_000
WAYS = {"wire": {}, "librdkafka": {"batch.size": "1000000"}}  # a setting that the wire does not follow
OWNER = "bench.checkpoint"


def rows() -> Iterator[Row]:
    """Write and read each way, and what looking at checksums costs."""
    records = [batch.set_column(2, RECORDS.field(2), _no_times(batch)) for batch in views(RECORDS_WRITTEN)]
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(Path(folder, "broker"))
        broker.start()
        try:
            yield from _measured(broker.bootstrap, records)
        finally:
            broker.kill()


def _measured(address: str, records: list[pa.RecordBatch]) -> Iterator[Row]:
    written, read = dict[str, float](), dict[str, float]()
    end = 0
    for name, settings in WAYS.items():
        with closing(KafkaSystem(address, settings)) as system:
            system.create(name, 1)
            system.create(OWNER, 1)
            where = Partition(name, 0)
            written[name] = _rate(partial(_write, system, where, records))
            end = system.spans([where])[where].end // 2  # it was written twice
            read[name] = _rate(partial(_read, system, where, end))
    yield Row("read by librdkafka", read["librdkafka"], "M records/s")
    yield Row(
        "read by the wire",
        read["wire"],
        "M records/s",
        Aim(least=2),
        compared=Compared("librdkafka", read["librdkafka"]),
    )
    with closing(WireReader(address, check=False)) as reader:
        unchecked = _rate(partial(_read, reader, Partition("wire", 0), end))
    compared = Compared("checked", read["wire"])
    yield Row("the same, checksums not compared", unchecked, "M records/s", compared=compared)
    yield Row("write by librdkafka", written["librdkafka"], "M records/s")
    compared = Compared("librdkafka", written["librdkafka"])
    yield Row("write by the wire", written["wire"], "M records/s", Aim(least=1.5), compared=compared)


def _no_times(batch: pa.RecordBatch) -> pa.Array:
    return pa.nulls(len(batch), pa.int64())


def _rate(work: Callable[[], object]) -> float:
    """Million records per CPU second, at the second time: the first one pays for what is loaded once."""
    work()
    start = time.process_time()
    work()
    return RECORDS_WRITTEN / (time.process_time() - start) / 1e6


def _write(system: KafkaSystem, partition: Partition, records: list[pa.RecordBatch]) -> None:
    for batch in records:
        transaction = system.begin(OWNER, 1)
        transaction.append(partition, batch)
        transaction.put(OWNER, b"task 0", uuid.uuid4().bytes * 20)
        transaction.commit()


def _read(source: RangeReader, partition: Partition, end: int) -> None:
    count = sum(map(len, source.read(partition, 0, end)))
    if count != RECORDS_WRITTEN:
        raise ValueError(f"read {count} records of {RECORDS_WRITTEN}")
