"""A lane's transaction: produced while it is filled, made visible or voided at its end."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.systems.kafka.transactions.non_transactional_producer import NonTransactionalProducer
from streamapp_runtime.systems.kafka.transactions.outgoing_records import as_records, with_timestamps
from streamapp_runtime.systems.kafka.transactions.transactional_writer import TransactionalWriter
from streamapp_runtime.systems.stream_system import (
    VISIBILITY_SECONDS,
    RecordRefusedError,
    TransactionAbortableError,
    check_records,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

SIGHTED = 4
"""So many partitions are looked at for all that were written to."""


@dataclass(slots=True)
class KafkaTransaction:
    """Appends and puts of one writer."""

    writer: TransactionalWriter
    outright: NonTransactionalProducer  # for what is handed out
    check: Callable[[TopicPartition], None]  # UnknownStreamError where there is no such partition
    ends: Callable[[Collection[TopicPartition]], Mapping[TopicPartition, int]]  # before what is undecided
    now_ms: int
    _open: bool = True
    _written: set[TopicPartition] = field(default_factory=set)
    _handed_out: bool = False
    _put: dict[bytes, bytes | None] = field(default_factory=dict)
    _waiting: dict[TopicPartition, list[tuple[bytes, bytes | None]]] = field(default_factory=dict)

    def append(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS) to the end of a partition."""
        self._check_open()
        self.check(partition)
        if len(check_records(partition, records)):
            self._settle(partition)
            self._produce(partition, records)

    def append_uncommitted(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """Add records that are in no transaction; they are there before this one commits."""
        self._check_open()
        self.check(partition)
        if len(check_records(partition, records)):
            self._handed_out = True
            self.outright.append(partition, with_timestamps(records, self.now_ms))

    def put(self, stream: str, key: bytes, value: bytes | None) -> None:
        """Add one record to partition 0 of a compacted stream."""
        self._check_open()
        partition = TopicPartition(stream, 0)
        self.check(partition)
        # Kept until the end: many small ones go out as one.
        self._waiting.setdefault(partition, []).append((key, value))
        self._put[key] = value

    def end_of(self, partition: TopicPartition) -> int:
        """The offset at which the records appended to a partition end."""
        self._settle(partition)
        if partition not in self._written:
            return self.ends([partition])[partition]
        with self._whole():
            return self.writer.producing.flush()[partition]

    def commit(self, seen_in: Collection[str] | None = None, /) -> Mapping[TopicPartition, int]:
        """Make everything visible; gives the end of what was written to each partition."""
        self._check_open()
        for partition in list(self._waiting):
            self._settle(partition)
        self._open = False
        with self._whole():
            if self._handed_out:
                self.outright.delivered()
                crash_point("transaction.handed-out")
            ends = self.writer.producing.commit() if self._written else {}
        self.writer.checkpoints.update(self._put)
        self.writer.busy, self.writer.spent = False, self.writer.producing.has_repeated_end
        self._await_visibility([one for one in ends if seen_in is None or one.topic in seen_in], ends)
        return ends

    def abort(self) -> None:
        """Drop everything."""
        if self._open and self._handed_out:
            self.outright.drop()
        if self._open and self._written:
            self.writer.abort()
        self._open = False
        self.writer.busy = False

    def _settle(self, partition: TopicPartition) -> None:
        """Produce what was put there."""
        put = self._waiting.pop(partition, ())
        if put:
            self._produce(partition, as_records(put, self.now_ms))

    def _produce(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        self._written.add(partition)
        with self._whole():
            self.writer.producing.append(partition, with_timestamps(records, self.now_ms))

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Something that leaves the writer of no more use where it fails; who follows voids what it left.

        What the cluster wants to be aborted is, and what has a refused record, since readers would wait for
        its end: the writer goes on where that goes well.
        """
        try:
            yield
        except (TransactionAbortableError, RecordRefusedError):
            self._open = self.writer.busy = False
            self.writer.abort()
            raise
        except BaseException:
            self._open = False
            self.writer.spent = True
            raise

    def _await_visibility(
        self, partitions: Sequence[TopicPartition], ends: Mapping[TopicPartition, int]
    ) -> None:
        """Wait until readers see what was committed: brokers write its markers after they have answered.

        Not for long, and not for every partition: another's open transaction may stand before ours.
        """
        network = self.writer.producing.network
        until = network.now() + VISIBILITY_SECONDS
        unseen = partitions[:SIGHTED]
        while unseen and network.now() < until:
            seen_ends = self.ends(unseen)
            unseen = [partition for partition in unseen if seen_ends[partition] <= ends[partition]]
            if unseen:
                network.pause(0.002)

    def _check_open(self) -> None:
        if not self._open:
            raise ValueError("the transaction has ended; begin another one")
