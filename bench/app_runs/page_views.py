"""Page views of 100,000 users, about 100 bytes each, and the users: on an embedded log, or as JSON lines."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition

USERS = 100_000
PARTITIONS = 4
BLOCK = 50_000
BEGINNING = 1_758_000_000_000
"""The first view's time, at the start of a minute: a broker takes none that is an hour ahead."""
HEALTH = 10  # one of so many pages is a health check, which the app leaves out


def users(count: int = USERS, padding: int = 0) -> Iterator[pa.RecordBatch]:
    """A record for every user, with so many bytes of text beside what the join takes."""
    beside = f',"about":"{"x" * padding}"' if padding else ""
    for start in range(0, count, BLOCK):
        names = [f"user-{n:07d}" for n in range(start, min(start + BLOCK, count))]
        values = [
            f'{{"user":"{name}","country":"C{n % 200}","tier":{n % 5}{beside}}}'
            for n, name in enumerate(names)
        ]
        yield _records(pa.array(names).cast(pa.binary()), pa.array(values).cast(pa.binary()))


def views(count: int, known: int = USERS, seed: int = 1) -> Iterator[pa.RecordBatch]:
    """Views by random users in the order of their time."""
    random = np.random.default_rng(seed)
    names = pa.array([f"user-{n:07d}" for n in range(known)])
    pages = pa.array(
        [f"/health/{n}" if n % HEALTH == 0 else f"/products/{n:05d}/details" for n in range(10_000)]
    )
    for start in range(0, count, BLOCK):
        rows = min(BLOCK, count - start)
        user = names.take(pa.array(random.integers(0, known, rows)))
        page = pages.take(pa.array(random.integers(0, len(pages), rows)))
        time = pa.array(np.arange(start, start + rows) + BEGINNING).cast(pa.timestamp("ms"))
        text = pc.strftime(time, "%Y-%m-%dT%H:%M:%SZ")
        parts = ('{"user":"', user, '","page":"', page, '","ts":"', text, '"}', "")
        yield _records(user.cast(pa.binary()), pc.binary_join_element_wise(*parts).cast(pa.binary()))


def to_log(log: EmbeddedSystem, stream: str, records: Iterator[pa.RecordBatch], each: int = BLOCK) -> None:
    """Write records as a producer does that sends so many at a time."""
    log.create(stream, PARTITIONS)
    log.create("bench.checkpoint", 1)
    for batch in records:
        for start in range(0, len(batch), each):
            _append(log, stream, batch.slice(start, each))


def to_join(data: Path, count: int) -> None:
    """A log for the join: one user, so many views, and an output without records."""
    log = EmbeddedSystem(data)
    to_log(log, "users", users(1))
    to_log(log, "views", views(count))
    log.create("enriched", PARTITIONS)
    log.close()


def to_files(folder: Path, records: Iterator[pa.RecordBatch], sizes: Sequence[int]) -> None:
    """Write the values as files of JSON lines, each of so many records, oldest first."""
    folder.mkdir(parents=True)
    values = pa.concat_arrays([batch.column("value") for batch in records])
    for number, size in enumerate(sizes):
        start = sum(sizes[:number])
        text = b"\n".join(values.slice(start, size).to_pylist()) + b"\n"
        file = folder / f"{number:05d}.json"
        file.write_bytes(text)
        os.utime(file, (number, number))  # Spark reads in this order


def real(records: Iterator[pa.RecordBatch]) -> int:
    """How many views are no health checks, and so are joined."""
    return sum(len(b) - pc.sum(pc.match_substring(b.column("value"), '"/health')).as_py() for b in records)


def check_real(found: int, count: int) -> None:
    """AssertionError unless so many views came out of a run over these, health checks left out."""
    wanted = real(views(count))
    if found != wanted:
        raise AssertionError(f"{found:,} rows came out, {wanted:,} should")


def _append(log: EmbeddedSystem, stream: str, records: pa.RecordBatch) -> None:
    places = partition_of(records.column("key"), PARTITIONS)
    transaction = log.begin("bench.checkpoint", 1)
    for index in range(PARTITIONS):
        found = records.filter(pa.array(places == index))
        if len(found):
            transaction.append(TopicPartition(stream, index), found)
    transaction.commit()


def _records(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    times = pa.array(np.full(len(keys), BEGINNING, np.int64))
    return pa.RecordBatch.from_arrays([keys, values, times], schema=RECORDS)
