"""The streams of the besieged app, as plain values."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.partitioning import partition_of
from streamapp_runtime.systems.embedded.log import EmbeddedSystem
from streamapp_runtime.systems.system import RECORDS

PARTITIONS = 4
Row = Mapping[str, Any]


def append(system: EmbeddedSystem, stream: str, rows: Iterable[Row]) -> None:
    """Write rows, each to the partition of its user, in one transaction."""
    transaction = system.begin(f"{stream}.writer", 0)
    parts: dict[int, list[Row]] = {}
    rows = list(rows)
    places = partition_of(pa.array([row["user"].encode() for row in rows], pa.binary()), PARTITIONS)
    for index, row in zip(places.tolist(), rows, strict=True):
        parts.setdefault(index, []).append(row)
    for index, part in parts.items():
        keys = pa.array([row["user"].encode() for row in part], pa.binary())
        values = pa.array([json.dumps(row).encode() for row in part], pa.binary())
        times = pa.array([0] * len(part), pa.int64())
        transaction.append(Partition(stream, index), pa.record_batch([keys, values, times], schema=RECORDS))
    transaction.commit()


def rows(system: EmbeddedSystem, stream: str) -> list[dict[str, Any]]:
    """All rows of a stream, partition by partition, each in its order."""
    partitions = [Partition(stream, index) for index in range(system.partitions(stream) or 0)]
    found: list[dict[str, Any]] = []
    for partition, span in system.spans(partitions).items():
        for records in system.read(partition, span.oldest, span.end):
            found += map(json.loads, records.column("value").to_pylist())
    return found


def size(system: EmbeddedSystem, stream: str) -> int:
    """How many records a stream has."""
    partitions = [Partition(stream, index) for index in range(system.partitions(stream) or 0)]
    return sum(span.end - span.oldest for span in system.spans(partitions).values())
