"""The producer of one writer, by librdkafka: for what the wire does not speak, such as SASL."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicCollection
from confluent_kafka.admin import AclOperation

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.rdkafka.client_errors import (
    CLIENT_EXCEPTIONS,
    kafka_error,
    translate_error,
)
from streamapp_runtime.systems.kafka.rdkafka.kafka_clients import ANSWER_SECONDS, KafkaClients
from streamapp_runtime.systems.kafka.wire.requests.transaction_coordinator import request_description
from streamapp_runtime.systems.stream_system import UnavailableError

_ENOUGH = frozenset({AclOperation.WRITE, AclOperation.ALL})


def unwritable_topics(cluster: KafkaClients, topics: Collection[str]) -> list[str]:
    """Those of these topics that this principal may not write; all of them where the cluster does not say."""
    collection = TopicCollection(sorted(topics))
    answers = cluster.admin.describe_topics(
        collection, include_authorized_operations=True, request_timeout=ANSWER_SECONDS
    )
    denied_topics = []
    for name, future in answers.items():
        try:
            operations = future.result(2 * ANSWER_SECONDS).authorized_operations or ()
        except KafkaException:
            operations = ()
        if _ENOUGH.isdisjoint(operations):
            denied_topics.append(name)
    return denied_topics or sorted(topics)


COMMIT_SECONDS = 30.0
"""How long the end of a transaction may take; after that, what came of it is read from the checkpoints."""
_SLICE_SECONDS = 0.5
"""How often a wait is broken off to see whether it is in vain."""

_PURGED = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)


@dataclass(slots=True)
class RdkafkaProducer:
    """One producer. A transaction begins with its first record; without a name there are none."""

    cluster: KafkaClients
    transactional_id: str | None
    producer: Producer
    _begun: bool = False
    _ends: dict[Partition, int] = field(default_factory=dict)
    _topics: set[str] = field(default_factory=set)  # that the transaction writes to
    has_repeated_end: bool = False  # as far as librdkafka says: what it repeats itself it does not tell
    _failure: KafkaError | None = None

    def initialise(self) -> None:
        """Take over the name."""
        if self.transactional_id is None:
            return
        try:
            self.producer.init_transactions(ANSWER_SECONDS)
        except KafkaException as error:
            raise self.cluster.failure(
                error, request_description("beginning to write", self.transactional_id)
            ) from None

    def append(self, partition: Partition, records: pa.RecordBatch) -> None:
        """Add records to the end of a partition."""
        self._topics.add(partition.stream)
        keys, values, times = (column.to_pylist() for column in records.columns)
        last = len(keys) - 1
        for place, (key, value, time_ms) in enumerate(zip(keys, values, times, strict=True)):
            self._produce(partition, key, value, time_ms, report_delivery=place == last)

    def flush(self) -> Mapping[Partition, int]:
        """Wait until the cluster has everything."""
        ends = time.monotonic() + COMMIT_SECONDS
        left = 1
        while left:
            try:
                left = self.producer.flush(_SLICE_SECONDS)
            except CLIENT_EXCEPTIONS as error:
                raise self._failed(kafka_error(error), "writing") from None
            if (why := self._void()) is not None:
                raise self._failed(why, "writing")
            if left and time.monotonic() > ends:
                message = f"{left} records did not reach the cluster in {COMMIT_SECONDS:.0f} s"
                raise self._failed(KafkaError(KafkaError._TIMED_OUT, message), "writing")
        if self._failure is not None:
            raise self._failed(self._failure, "writing")
        return self._ends

    def commit(self) -> Mapping[Partition, int]:
        """Make everything visible."""
        if self.transactional_id is None:
            ended, self._ends, self._topics = self.flush(), {}, set()
            return ended
        if not self._begun:
            return {}
        ended = self.flush()
        ends = time.monotonic() + COMMIT_SECONDS
        while True:
            try:
                self.producer.commit_transaction(ends - time.monotonic())
            except CLIENT_EXCEPTIONS as error:
                if not kafka_error(error).retriable() or time.monotonic() > ends:
                    raise self._failed(kafka_error(error), "committing") from None
                self.has_repeated_end = True
            else:
                self._begun, self._ends, self._topics = False, {}, set()
                return ended

    def abort(self) -> None:
        """Drop everything."""
        if self.transactional_id is None:
            self.producer.purge()
            return
        if not self._begun:
            return
        try:
            self.producer.purge()
            self.producer.abort_transaction(ANSWER_SECONDS)
        except CLIENT_EXCEPTIONS as error:
            raise self._failed(kafka_error(error), "aborting") from None
        self._begun, self._ends, self._topics = False, {}, set()

    def close(self) -> None:
        """Have nothing more sent."""
        self.producer.purge()

    def _produce(
        self,
        partition: Partition,
        key: bytes | None,
        value: bytes | None,
        time_ms: int,
        *,
        report_delivery: bool,
    ) -> None:
        on_delivery = partial(self._delivered, self._ends, partition) if report_delivery else None
        produce = self.producer.produce
        ends = time.monotonic() + COMMIT_SECONDS
        while True:
            try:
                if self.transactional_id is not None and not self._begun:
                    self.producer.begin_transaction()
                    self._begun = True
                produce(
                    partition.stream, value, key, partition.index, on_delivery=on_delivery, timestamp=time_ms
                )
            except BufferError:  # what was produced has to go out first
                if time.monotonic() > ends:
                    raise UnavailableError(f"writing to {partition}: nothing goes out") from None
                self.producer.poll(0.05)
            except CLIENT_EXCEPTIONS as error:
                if kafka_error(error).code() != KafkaError._UNKNOWN_PARTITION or time.monotonic() > ends:
                    raise self._failed(kafka_error(error), f"writing to {partition}") from None
                self._look_again(partition)
            else:
                return

    def _look_again(self, partition: Partition) -> None:
        """Have the producer learn of partitions that were added since it first wrote to the topic."""
        try:
            self.producer.list_topics(partition.stream, ANSWER_SECONDS)
        except CLIENT_EXCEPTIONS as error:
            raise self._failed(kafka_error(error), f"writing to {partition}") from None

    def _delivered(
        self, ends: dict[Partition, int], partition: Partition, error: KafkaError | None, message: Message
    ) -> None:
        """Hear of a transaction's record, be it that the transaction has ended."""
        if error is not None and error.code() not in _PURGED:
            self._failure = self._failure or error
        elif (offset := message.offset()) is not None:
            ends[partition] = offset + 1

    def _void(self) -> KafkaError | None:
        """Why the transaction cannot be committed any more: asked for another one, the client tells."""
        if not self._begun or self.transactional_id is None:
            return None
        try:
            self.producer.begin_transaction()
        except CLIENT_EXCEPTIONS as error:
            kafka_failure = kafka_error(error)
            return None if kafka_failure.code() == KafkaError._STATE else kafka_failure
        return None

    def _failed(self, error: KafkaError, doing: str) -> Exception:
        if error.code() == KafkaError._STATE:  # only that it is void
            error = self._void() or error
        if error.code() == KafkaError._FATAL and self.transactional_id is not None:
            # Only that it is fatal: what it is says the end of a transaction, which sends nothing any more.
            try:
                self.producer.commit_transaction(ANSWER_SECONDS)
            except CLIENT_EXCEPTIONS as exception:
                error = kafka_error(exception)
        if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED and self._topics:
            doing = f"writing to {', '.join(unwritable_topics(self.cluster, self._topics))}"
        return translate_error(error, request_description(doing, self.transactional_id), self.cluster.denied)
