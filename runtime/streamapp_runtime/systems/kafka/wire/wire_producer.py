"""The producer of one writer, by the protocol itself: transactions, or records as they are."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow as pa

from streamapp_runtime.systems.kafka.wire.batch_delivery import BatchDelivery, PartitionQueue
from streamapp_runtime.systems.kafka.wire.batch_format.batch_encoder import (
    EncodedBatch,
    ProducerIdentity,
    encode_batches,
    encode_each,
    encoded_size,
)
from streamapp_runtime.systems.kafka.wire.batch_format.compression import UNCOMPRESSED, Compression
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import PLAINTEXT, ConnectionSettings
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.requests.request_retries import UnfinishedRequestError
from streamapp_runtime.systems.kafka.wire.requests.transaction_coordinator import (
    TransactionCoordinator,
    request_description,
)
from streamapp_runtime.systems.stream_system import (
    RecordRefusedError,
    TransactionAbortableError,
    joined_records,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

_HELD = 16 << 20  # bytes that wait before they are sent
_SMALL = 65_536  # bytes for a partition that are encoded with those for others
_LARGEST = 1_000_000  # bytes of a batch; a broker takes 1,048,588 unless it was told otherwise
_TIMEOUT_MS = 60_000


class WireProducer:
    """Writes transactions under one name. After any error it has to be initialised again.

    Without a name records can be read as soon as brokers have them; to commit is to wait until they do.
    """

    def __init__(
        self,
        bootstrap: str,
        transactional_id: str | None,
        settings: ConnectionSettings = PLAINTEXT,
        *,
        timeout_ms: int = _TIMEOUT_MS,
        compression: Compression = UNCOMPRESSED,
        largest: int = _LARGEST,
        trouble: BrokerTrouble | None = None,
    ) -> None:
        """`timeout_ms` is how long a transaction may stay open before the cluster drops it.

        No batch takes more than `largest` bytes, unless one record does. `trouble` is told what keeps writes
        waiting.
        """
        self._cluster = BrokerPool(bootstrap, settings, trouble)
        self._coordinator = TransactionCoordinator(self._cluster, transactional_id)
        self._transactional_id = transactional_id
        self.network = settings.network
        self._timeout_ms = timeout_ms
        self._patience = settings.timeout
        self._compression = compression
        self._largest = largest
        self._identity: ProducerIdentity | None = None
        self._sequences: dict[TopicPartition, int] = {}
        self._held: dict[TopicPartition, list[pa.RecordBatch]] = {}
        self._size = 0
        self._added: set[TopicPartition] = set()
        self._ends: dict[TopicPartition, int] = {}
        self._broken = self._abortable = False

    @property
    def has_repeated_end(self) -> bool:
        """True if the end of a transaction was asked for again, so that an earlier request may yet arrive."""
        return self._coordinator.has_repeated_end

    def initialise(self) -> None:
        """Take over the name: whoever had it is fenced, and what it had open is void."""
        self._identity = self._coordinator.initialise(self._timeout_ms)
        self._broken = self._abortable = False
        self._sequences.clear()
        self._forget()

    def append(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS) to the end of a partition; those without a time were written now."""
        if not len(records):
            return
        self._held.setdefault(partition, []).append(records)
        self._size += records.nbytes
        if self._size > _HELD:
            self._send()

    def flush(self) -> Mapping[TopicPartition, int]:
        """Return when the cluster has everything: the offset after the last record of each partition."""
        self._send()
        return self._ends

    def commit(self) -> Mapping[TopicPartition, int]:
        """Make everything visible; gives where what was written to each partition ends."""
        ends = self.flush()
        self._end(commit=True)
        return ends

    def abort(self) -> None:
        """Drop everything; after some failures too, where the next transaction has another epoch."""
        self._held, self._size = {}, 0
        self._broken &= not self._abortable
        self._end(commit=False)

    def close(self) -> None:
        """Let go of all connections; a transaction that is open stays so until its time is over."""
        self._cluster.close()

    def _end(self, *, commit: bool) -> None:
        with self._whole() as identity:
            if self._added:
                self._identity = self._coordinator.end(identity, commit=commit)
            if self._identity != identity:
                self._sequences.clear()  # of each epoch begin anew
        self._forget()

    def _forget(self) -> None:
        self._held, self._size, self._added, self._ends = {}, 0, set(), {}

    def _send(self) -> None:
        batches_by_partition, self._held, self._size = self._held, {}, 0
        if not batches_by_partition:
            return
        with self._whole() as identity:
            if identity.transactional and (new := batches_by_partition.keys() - self._added):
                if not identity.has_epoch_per_transaction:  # else leaders have them added
                    self._coordinator.add(identity, new)
                self._added |= new
            encoded = self._encoded(batches_by_partition)
            outboxes = {
                partition: PartitionQueue(batches, self._sequences.get(partition, 0))
                for partition, batches in encoded.items()
            }
            delivery = BatchDelivery(
                self._cluster, self._transactional_id, identity, int(self._patience * 1000)
            )
            doing = request_description("writing", self._transactional_id)
            delivery.deliver(outboxes, self._cluster.retries(doing))
            for partition, outbox in outboxes.items():
                if outbox.end is None:
                    raise UnfinishedRequestError(
                        f"writing to {partition}: the leader does not say where it put the records"
                    )
                self._ends[partition] = outbox.end
                self._sequences[partition] = outbox.sequence

    def _encoded(
        self, batches: Mapping[TopicPartition, Sequence[pa.RecordBatch]]
    ) -> Mapping[TopicPartition, Iterator[EncodedBatch]]:
        """The batches of each partition: small ones are encoded together, large ones as they are sent."""
        now = time.time_ns() // 1_000_000
        records = {partition: joined_records(parts) for partition, parts in batches.items()}
        small = [one for one, whole in records.items() if encoded_size(whole) <= min(_SMALL, self._largest)]
        together = encode_each([records[one] for one in small], now, self._compression) if small else []
        encoded = {one: iter([batch]) for one, batch in zip(small, together, strict=True)}
        for partition, whole in records.items():
            if partition not in encoded:
                encoded[partition] = encode_batches(whole, now, self._largest, self._compression)
        return encoded

    @contextmanager
    def _whole(self) -> Iterator[ProducerIdentity]:
        """Something that is done whole, or else leaves this producer unusable."""
        if self._broken or self._identity is None:
            raise UnfinishedRequestError(
                request_description("writing", self._transactional_id) + " has to be started again"
            )
        self._broken, self._abortable = True, False
        try:
            yield self._identity
        except (TransactionAbortableError, RecordRefusedError):
            self._abortable = self._identity.has_epoch_per_transaction
            raise
        self._broken = False
