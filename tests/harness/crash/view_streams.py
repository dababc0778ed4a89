"""The streams of the besieged app, as plain values, on whichever system they lie."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS

PARTITIONS = 4
INPUTS = ("views", "users")
Row = Mapping[str, Any]


class Streams(Protocol):
    """What a siege and its feeder do with streams."""

    def create(self) -> None:
        """Make the inputs."""

    def append(self, stream: str, rows: Iterable[Row]) -> None:
        """Write rows, each to the partition of its user."""

    def rows(self, stream: str) -> list[dict[str, Any]]:
        """All committed rows of a stream, partition by partition, each in its order."""

    def size(self, stream: str) -> int:
        """How much a stream has; nothing where it is not there yet."""

    def close(self) -> None:
        """Let go, once everything is written."""


class LogStreams:
    """The streams of an embedded log."""

    def __init__(self, folder: Path) -> None:
        self.system = EmbeddedSystem(folder)

    def create(self) -> None:
        for name in INPUTS:
            self.system.create(name, PARTITIONS)

    def append(self, stream: str, rows: Iterable[Row]) -> None:
        """All in one transaction."""
        transaction = self.system.begin(f"{stream}.writer", 0)
        parts: dict[int, list[Row]] = {}
        rows = list(rows)
        places = partition_of(pa.array([row["user"].encode() for row in rows], pa.binary()), PARTITIONS)
        for index, row in zip(places.tolist(), rows, strict=True):
            parts.setdefault(index, []).append(row)
        for index, part in parts.items():
            keys = pa.array([row["user"].encode() for row in part], pa.binary())
            values = pa.array([json.dumps(row).encode() for row in part], pa.binary())
            times = pa.array([0] * len(part), pa.int64())
            records = pa.record_batch([keys, values, times], schema=RECORDS)
            transaction.append(Partition(stream, index), records)
        transaction.commit()

    def rows(self, stream: str) -> list[dict[str, Any]]:
        partitions = [Partition(stream, index) for index in range(self.system.partitions(stream) or 0)]
        found: list[dict[str, Any]] = []
        for partition, span in self.system.spans(partitions).items():
            for records in self.system.read(partition, span.oldest, span.end):
                found += map(json.loads, records.column("value").to_pylist())
        return found

    def size(self, stream: str) -> int:
        partitions = [Partition(stream, index) for index in range(self.system.partitions(stream) or 0)]
        return sum(span.end - span.oldest for span in self.system.spans(partitions).values())

    def close(self) -> None:
        self.system.close()
