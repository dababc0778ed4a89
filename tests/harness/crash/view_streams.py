"""The streams of the besieged app, as plain values, on whichever system they lie."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition

PARTITIONS = 4
INPUTS = ("views", "users")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """A record as it is written, or as it lies there."""

    key: bytes | None
    value: bytes | None
    partition: int | None = None  # to be written where the key belongs where it says nothing
    offset: int | None = None  # once it is written


def record_of(row: Row) -> StreamRecord:
    """A row under its user."""
    return StreamRecord(row["user"].encode(), json.dumps(row).encode())


def key_partition(key: bytes | None) -> int:
    """Where a key belongs."""
    return int(partition_of(pa.array([key], pa.binary()), PARTITIONS)[0])


class Streams(Protocol):
    """What a siege and its feeder do with streams."""

    def create(self) -> None:
        """Make the inputs."""

    def write(self, stream: str, records: Iterable[StreamRecord]) -> None:
        """Write records, each to its partition or to that of its key."""

    def records(self, stream: str) -> list[StreamRecord]:
        """All committed records of a stream, partition by partition, each in its order."""

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
        """Write rows, each to the partition of its user."""
        self.write(stream, map(record_of, rows))

    def write(self, stream: str, records: Iterable[StreamRecord]) -> None:
        """All in one transaction."""
        transaction = self.system.begin(f"{stream}.writer", 0)
        parts: dict[int, list[StreamRecord]] = {}
        for record in records:
            index = key_partition(record.key) if record.partition is None else record.partition
            parts.setdefault(index, []).append(record)
        for index, part in parts.items():
            keys = pa.array([record.key for record in part], pa.binary())
            values = pa.array([record.value for record in part], pa.binary())
            times = pa.array([0] * len(part), pa.int64())
            transaction.append(
                TopicPartition(stream, index), pa.record_batch([keys, values, times], schema=RECORDS)
            )
        transaction.commit()

    def records(self, stream: str) -> list[StreamRecord]:
        partitions = [TopicPartition(stream, index) for index in range(self.system.partitions(stream) or 0)]
        return [
            StreamRecord(one["key"], one["value"], partition.index, one["offset"])
            for partition, span in self.system.spans(partitions).items()
            for batch in self.system.read(partition, span.oldest, span.end)
            for one in batch.to_pylist()
        ]

    def rows(self, stream: str) -> list[dict[str, Any]]:
        """The same as rows, of a stream that has nothing else."""
        return [json.loads(record.value or b"null") for record in self.records(stream)]

    def size(self, stream: str) -> int:
        partitions = [TopicPartition(stream, index) for index in range(self.system.partitions(stream) or 0)]
        return sum(span.end - span.oldest for span in self.system.spans(partitions).values())

    def close(self) -> None:
        self.system.close()
