"""A lane's transaction: produced while it is filled, made visible or voided at its end."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
from confluent_kafka import KafkaError, Message

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.cluster import ANSWER_SECONDS
from streamapp_runtime.systems.kafka.faults import RAISED, cause, translated
from streamapp_runtime.systems.kafka.writer import Writer
from streamapp_runtime.systems.system import RECORDS, UnavailableError

COMMIT_SECONDS = 30.0
"""How long the end of a transaction may take; after that, what came of it is read from the checkpoints."""

SIGHT_SECONDS = 0.25
SIGHTED = 4


@dataclass(slots=True)
class KafkaTransaction:
    """Appends and puts of one writer. Nothing is begun before the first of them."""

    writer: Writer
    check: Callable[[Partition], None]  # UnknownStreamError where there is no such partition
    end: Callable[[Partition], int]  # of a partition to which nothing was appended
    now_ms: int
    _open: bool = True
    _begun: bool = False
    _put: dict[bytes, bytes | None] = field(default_factory=dict)
    _ends: dict[Partition, int] = field(default_factory=dict)
    _undelivered: set[Partition] = field(default_factory=set)
    _failure: KafkaError | None = None

    def append(self, partition: Partition, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS) to the end of a partition."""
        self._check_open()
        self.check(partition)
        if not records.schema.equals(RECORDS):
            raise ValueError(f"records for {partition} have the schema {records.schema}, wanted is {RECORDS}")
        keys, values, times = (column.to_pylist() for column in records.columns)
        last = len(keys) - 1
        for place, (key, value, time_ms) in enumerate(zip(keys, values, times, strict=True)):
            stamp = self.now_ms if time_ms is None else time_ms
            self._produce(partition, key, value, stamp, told=place == last)

    def put(self, stream: str, key: bytes, value: bytes | None) -> None:
        """Add one record to partition 0 of a compacted stream."""
        self._check_open()
        partition = Partition(stream, 0)
        self.check(partition)
        self._produce(partition, key, value, self.now_ms, told=True)
        self._put[key] = value

    def end_of(self, partition: Partition) -> int:
        """Where what was appended to a partition ends."""
        if partition not in self._ends and partition not in self._undelivered:
            return self.end(partition)
        self._flush()
        return self._ends[partition]

    def commit(self) -> Mapping[Partition, int]:
        """Make everything visible; gives the end of what was written to each partition."""
        self._check_open()
        self._open = False
        if not self._begun:
            self.writer.busy = False
            return {}
        self._flush()
        ends = time.monotonic() + COMMIT_SECONDS
        while True:
            try:
                self.writer.producer.commit_transaction(ends - time.monotonic())
                break
            except RAISED as error:
                if not cause(error).retriable() or time.monotonic() > ends:
                    raise self._failed(cause(error), "committing") from None
        self.writer.known.update(self._put)
        self.writer.busy = False
        self._await_sight()
        return self._ends

    def _await_sight(self) -> None:
        """Wait until readers see what was committed: brokers write its markers after they have answered.

        Not for long, and not for every partition: another's open transaction may stand before ours.
        """
        ends = time.monotonic() + SIGHT_SECONDS
        for partition in list(self._ends)[:SIGHTED]:
            while self.end(partition) <= self._ends[partition] and time.monotonic() < ends:
                time.sleep(0.002)

    def abort(self) -> None:
        """Drop everything."""
        if self._open and self._begun:
            try:
                self.writer.producer.purge()
                self.writer.producer.abort_transaction(ANSWER_SECONDS)
            except RAISED:
                self.writer.spent = True  # whoever writes next under this name voids it
        self._open = False
        self.writer.busy = False

    def _produce(
        self, partition: Partition, key: bytes | None, value: bytes | None, time_ms: int, *, told: bool
    ) -> None:
        heard = partial(self._delivered, partition) if told else None
        if told:
            self._undelivered.add(partition)
        produce = self.writer.producer.produce
        ends = time.monotonic() + COMMIT_SECONDS
        while True:
            try:
                self._begin()
                produce(partition.stream, value, key, partition.index, on_delivery=heard, timestamp=time_ms)
            except BufferError:  # what was produced has to go out first
                if time.monotonic() > ends:
                    raise UnavailableError(f"writing to {partition}: nothing goes out") from None
                self.writer.producer.poll(0.05)
            except RAISED as error:
                if cause(error).code() != KafkaError._UNKNOWN_PARTITION or time.monotonic() > ends:
                    raise self._failed(cause(error), f"writing to {partition}") from None
                self._look_again(partition)
            else:
                return

    def _begin(self) -> None:
        if not self._begun:
            self.writer.producer.begin_transaction()
            self._begun = True

    def _look_again(self, partition: Partition) -> None:
        """Have the producer learn of partitions that were added since it first wrote to the topic."""
        try:
            self.writer.producer.list_topics(partition.stream, ANSWER_SECONDS)
        except RAISED as error:
            raise self._failed(cause(error), f"writing to {partition}") from None

    def _delivered(self, partition: Partition, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failure = self._failure or error
        elif (offset := message.offset()) is not None:
            self._ends[partition] = offset + 1
            self._undelivered.discard(partition)

    def _flush(self) -> None:
        """Wait until the cluster has everything."""
        try:
            left = self.writer.producer.flush(COMMIT_SECONDS)
        except RAISED as error:
            raise self._failed(cause(error), "writing") from None
        if self._failure is not None:
            raise self._failed(self._failure, "writing")
        if left:
            waited = f"{left} records did not reach the cluster in {COMMIT_SECONDS:.0f} s"
            raise self._failed(KafkaError(KafkaError._TIMED_OUT, waited), "writing")

    def _failed(self, error: KafkaError, doing: str) -> Exception:
        """Note that this writer is of no more use; whoever follows voids what it left."""
        self._open = False
        self.writer.spent = True
        said = f'{doing} as "{self.writer.transactional_id}"'
        return translated(error, said, self.writer.cluster.denied)

    def _check_open(self) -> None:
        if not self._open:
            raise ValueError("the transaction has ended; begin another one")
