"""The embedded log: million records of about 113 bytes per CPU second, written and read by one process.

Records are appended as a lane does it: 50,000 to a batch over four partitions, with a checkpoint, as one
transaction. CPU seconds are the process's own, those of the kernel included.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.row import Aim, Row
from streamapp_runtime.systems.embedded.block import Compression
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS, StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition

RECORDS_WRITTEN = 1_000_000
BATCH = 50_000
PARTITIONS = 4
SMALL_COMMITS = 1_000
CHECKPOINT = "app.checkpoint"


def rows() -> Iterator[Row]:
    """Append and read with each way of keeping blocks, a changelog, and the cost of a commit."""
    records = _records()
    for compression in (None, "lz4_raw", "zstd"):
        with _log(compression) as log:
            yield from _append_and_read(log, records, str(compression or "uncompressed"))
    with _log(None) as log:
        log.create("changelog", 1, StreamOptions(compacted=True))
        spent = _cpu(lambda: _write(log, records, "changelog", 1))
        left = _size(log, "changelog") / RECORDS_WRITTEN
        yield _rate("append to a changelog, compacted as it grows", spent, f"{left:.0f} bytes a record stay")
    with _log(None) as log:
        spent = _cpu(lambda: _commit_checkpoints(log))
        yield Row("commit of one checkpoint, compared", spent / SMALL_COMMITS * 1e6, "CPU us")


def _size(log: EmbeddedSystem, stream: str) -> int:
    """How many bytes a stream takes, which an embedded log knows."""
    size = log.holdings()[stream].size
    if size is None:
        raise TypeError(f"the log does not tell the size of {stream}")
    return size


def _append_and_read(log: EmbeddedSystem, records: pa.RecordBatch, how: str) -> Iterator[Row]:
    log.create("views", PARTITIONS)
    spent = _cpu(lambda: _write(log, records, "views", PARTITIONS))
    size = _size(log, "views") / RECORDS_WRITTEN
    plain = how == "uncompressed"
    yield _rate(f"append, {how}", spent, f"{size:.0f} bytes a record", Aim(least=3) if plain else None)
    yield _rate(f"read, {how}", _cpu(lambda: _read(log)), aim=Aim(least=10) if plain else None)


def _rate(name: str, spent: float, beside: str = "", aim: Aim | None = None) -> Row:
    return Row(name, RECORDS_WRITTEN / spent / 1e6, "M records/s", aim, beside)


def _write(log: EmbeddedSystem, records: pa.RecordBatch, stream: str, partitions: int) -> None:
    each = BATCH // partitions
    for number, start in enumerate(range(0, RECORDS_WRITTEN, BATCH)):
        transaction = log.begin(CHECKPOINT, 1)
        for index in range(partitions):
            transaction.append(TopicPartition(stream, index), records.slice(start + index * each, each))
        transaction.put(CHECKPOINT, b"task 0", b"%300d" % number)
        transaction.commit()


def _read(log: EmbeddedSystem) -> None:
    spans = log.spans([TopicPartition("views", index) for index in range(PARTITIONS)])
    found = sum(batch.num_rows for where, span in spans.items() for batch in log.read(where, 0, span.end))
    if found != RECORDS_WRITTEN:
        raise ValueError(f"read {found} records of {RECORDS_WRITTEN}")


def _commit_checkpoints(log: EmbeddedSystem) -> None:
    newest: bytes | None = None
    for number in range(SMALL_COMMITS):
        transaction = log.begin(CHECKPOINT, 1, {b"task 0": newest})
        newest = b"%300d" % number
        transaction.put(CHECKPOINT, b"task 0", newest)
        transaction.commit()


def _records() -> pa.RecordBatch:
    users = np.random.default_rng(1).integers(0, 100_000, RECORDS_WRITTEN)
    keys = [b"user-%06d" % user for user in users]
    values = [
        b'{"user":"%b","page":"/products/%05d","ts":"2026-01-01T00:00:00.%03dZ","n":%d}'
        % (key, n % 99_991, n % 1_000, n)
        for n, key in enumerate(keys)
    ]
    times = np.arange(RECORDS_WRITTEN)
    columns = [pa.array(keys, pa.binary()), pa.array(values, pa.binary()), pa.array(times)]
    return pa.RecordBatch.from_arrays(columns, schema=RECORDS)


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@contextmanager
def _log(compression: Compression | None) -> Iterator[EmbeddedSystem]:
    folder = Path(tempfile.mkdtemp())
    log = EmbeddedSystem(folder, compression=compression)
    log.create(CHECKPOINT, 1, StreamOptions(compacted=True))
    try:
        yield log
    finally:
        log.close()
        shutil.rmtree(folder)
