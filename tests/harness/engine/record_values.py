"""Records in and out of a system as plain Python values."""

import os
from collections.abc import Iterable

import pyarrow as pa

from streamapp_runtime.systems.stream_system import RECORDS, STORED, StreamSystem, await_visibility
from streamapp_runtime.systems.topic_partition import TopicPartition

NOBODY = f"nobody-{os.getpid()}"
"""The owner of what tests write by hand. Processes share a broker: a second of its name would fence it."""
VISIBILITY_SECONDS = 5.0
"""How long it is waited for that readers see a write. A commit waits too, but not for as long as a loaded
machine may need; and another's open transaction may stand before it."""
Record = tuple[bytes | None, bytes | None, int | None]


def batch(records: Iterable[Record]) -> pa.RecordBatch:
    rows = [dict(zip(RECORDS.names, record, strict=True)) for record in records]
    return pa.RecordBatch.from_pylist(rows, schema=RECORDS)


def values(*texts: str) -> pa.RecordBatch:
    return batch((None, text.encode(), 0) for text in texts)


def keyed(**texts: str | None) -> pa.RecordBatch:
    return batch((key.encode(), None if text is None else text.encode(), 0) for key, text in texts.items())


def write(
    system: StreamSystem, partition: TopicPartition, *batches: pa.RecordBatch, owner: str = NOBODY
) -> int:
    transaction = system.begin(owner, 1)
    for one in batches:
        transaction.append(partition, one)
    end = transaction.commit()[partition]
    await_visibility(system, [partition], VISIBILITY_SECONDS)
    return end


def rows(
    system: StreamSystem, partition: TopicPartition, start: int | None = None, end: int | None = None
) -> list[dict]:
    span = system.spans([partition])[partition]
    found = []
    for part in system.read(
        partition, span.oldest if start is None else start, span.end if end is None else end
    ):
        assert part.schema == STORED
        found += part.to_pylist()
    return found


def texts(
    system: StreamSystem, partition: TopicPartition, start: int | None = None, end: int | None = None
) -> list[str]:
    return [row["value"].decode() for row in rows(system, partition, start, end)]
