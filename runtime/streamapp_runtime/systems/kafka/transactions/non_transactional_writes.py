"""Writing without a transaction: the records first, and then what says that they are there."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.systems.kafka.transactions.non_transactional_producer import NonTransactionalProducer
from streamapp_runtime.systems.kafka.transactions.outgoing_records import (
    as_records,
    with_timestamps,
)
from streamapp_runtime.systems.stream_system import check_records
from streamapp_runtime.systems.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class NotedCheckpoints:
    """The checkpoints that one writer of an incarnation takes for the newest, as long as all goes well."""

    incarnation: int
    values: dict[bytes, bytes | None]

    def agrees(self, incarnation: int, expected: Mapping[bytes, bytes | None]) -> bool:
        """True if this is what the same writer wrote or read last."""
        is_known = incarnation == self.incarnation and expected.keys() <= self.values.keys()
        return is_known and all(self.values[key] == value for key, value in expected.items())


@dataclass(slots=True)
class NonTransactionalWrites:
    """Appends that can be read at once, and puts that follow them."""

    outright: NonTransactionalProducer
    checkpoints: NotedCheckpoints
    check: Callable[[TopicPartition], None]  # UnknownStreamError where there is no such partition
    now_ms: int
    _open: bool = True
    _put: dict[TopicPartition, list[tuple[bytes, bytes | None]]] = field(default_factory=dict)
    _ends: dict[TopicPartition, int] = field(default_factory=dict)

    def append(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS) to the end of a partition."""
        self._check_open()
        self.check(partition)
        if len(check_records(partition, records)):
            self.outright.append(partition, with_timestamps(records, self.now_ms))

    def append_uncommitted(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """The same."""
        self.append(partition, records)

    def put(self, stream: str, key: bytes, value: bytes | None) -> None:
        """Add one record to partition 0 of a compacted stream, once all that is appended is there."""
        self._check_open()
        self.check(TopicPartition(stream, 0))
        self._put.setdefault(TopicPartition(stream, 0), []).append((key, value))

    def end_of(self, partition: TopicPartition) -> int:
        """The offset at which the records appended to a partition end."""
        self._ends |= self.outright.delivered()
        return self._ends[partition]

    def commit(self, _: Collection[str] | None = None, /) -> Mapping[TopicPartition, int]:
        """Return when everything is there; gives the end of what was written to each partition."""
        self._check_open()
        self._open = False
        self._ends |= self.outright.delivered()
        if self._put:
            crash_point("transaction.handed-out")
            for partition, entries in self._put.items():
                self.outright.append(partition, as_records(entries, self.now_ms))
            self._ends |= self.outright.delivered()
            self.checkpoints.values.update(entry for entries in self._put.values() for entry in entries)
        return self._ends

    def abort(self) -> None:
        """Write nothing more; what was appended may be there."""
        if self._open:
            self.outright.drop()
        self._open = False

    def _check_open(self) -> None:
        if not self._open:
            raise ValueError("the transaction has ended; begin another one")
