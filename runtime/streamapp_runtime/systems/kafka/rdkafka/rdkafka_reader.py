"""Ranges of committed records, by librdkafka's consumer.

A range ends by position: its last offsets may be markers of transactions, or holes that compaction left.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.rdkafka.client_errors import translate_error
from streamapp_runtime.systems.kafka.rdkafka.kafka_clients import ANSWER_SECONDS, KafkaClients
from streamapp_runtime.systems.stream_system import (
    STORED,
    OffsetRange,
    OutOfRangeError,
    UnavailableError,
)

MOST_MESSAGES = 10_000
"""More messages at once cost more each: they are out of the processor's caches by then."""
_WAIT_SECONDS = 0.02
_OF_GROUPS = KafkaError.GROUP_AUTHORIZATION_FAILED
"""The client asks who keeps its group together, although none is joined: who may not know need not know."""
_SHRUNK_SECONDS = 5.0
"""How long an end may lie below where it was seen: a new leader learns it from its followers."""


class RangeReader(Protocol):
    """Whatever reads ranges for one process. What it raises are errors of `systems.system`."""

    def fetch_ahead(self, ranges: Sequence[OffsetRange]) -> None:
        """Say which ranges, none of them empty, are read next."""

    def read(self, partition: Partition, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The committed records (schema STORED) with start <= offset < end, in order."""

    def close(self) -> None:
        """Let go of all connections."""


@dataclass(slots=True)
class RdkafkaReader:
    """The readers of one process. Each range has a reader to itself while it is read."""

    cluster: KafkaClients
    end_of: Callable[[Partition], int]
    _idle: list[Consumer] = field(default_factory=list)

    def fetch_ahead(self, ranges: Sequence[OffsetRange]) -> None:
        """Nothing: the client fetches ahead within the range that it reads."""

    def read(self, partition: Partition, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The records (schema STORED) with start <= offset < end."""
        consumer = self._idle.pop() if self._idle else self.cluster.consumer()
        is_usable = True
        try:
            consumer.assign([TopicPartition(partition.stream, partition.index, start)])
            yield from self._range(consumer, partition, start, end)
        except UnavailableError:  # it may ask a leader that was deposed: another one looks who leads now
            is_usable = False
            raise
        finally:
            if is_usable:
                consumer.unassign()  # else it would go on fetching
                self._idle.append(consumer)
            else:
                consumer.close()

    def close(self) -> None:
        """Let go of all readers."""
        while self._idle:
            self._idle.pop().close()

    def _range(
        self, consumer: Consumer, partition: Partition, start: int, end: int
    ) -> Iterator[pa.RecordBatch]:
        at, last_message_at, patience_seconds = start, time.monotonic(), ANSWER_SECONDS
        while at < end:
            try:
                messages = consumer.consume(min(MOST_MESSAGES, end - at), _WAIT_SECONDS)
            except KafkaException as error:
                raise self.cluster.failure(error, f"reading {partition}") from None
            records: list[Message] = []
            ended = -1
            for message in messages:
                message_error = message.error()
                if message_error is None:
                    records.append(message)
                elif message_error.code() == KafkaError._PARTITION_EOF:
                    ended = message.offset() or 0
                elif not message_error.retriable() and message_error.code() != _OF_GROUPS:
                    raise translate_error(message_error, f"reading {partition}", self.cluster.denied)
            if records:
                at = max(at, _after(records[-1]))
                yield from _within(records, start, end)
            if at <= ended < end:
                self._await_end(partition, end)
                patience_seconds = _SHRUNK_SECONDS  # its leader is to know more by then
            elif ended >= end:
                return
            if messages:
                last_message_at = time.monotonic()
            elif time.monotonic() - last_message_at > patience_seconds:
                raise UnavailableError(f"reading {partition}: nothing came for {patience_seconds:.0f} s")

    def _await_end(self, partition: Partition, end: int) -> None:
        """Wait for an end that was seen and is not there any more; OutOfRangeError where it stays away."""
        ends = time.monotonic() + _SHRUNK_SECONDS
        while (now := self.end_of(partition)) < end:
            if time.monotonic() > ends:
                raise OutOfRangeError(f"{partition} ends at {now}; asked for were records up to {end}")
            time.sleep(_WAIT_SECONDS)


def _after(message: Message) -> int:
    """The offset that follows a record."""
    return (message.offset() or 0) + 1


def _within(messages: list[Message], start: int, end: int) -> Iterator[pa.RecordBatch]:
    """The messages of the range as Arrow."""
    offsets = pa.array([message.offset() for message in messages], pa.int64())
    count = len(messages)
    if offsets[count - 1].as_py() >= end:
        messages = [message for message in messages if start <= (message.offset() or 0) < end]
        offsets = offsets.slice(0, len(messages))
    if messages:
        stamps = [message.timestamp() for message in messages]
        yield pa.record_batch(
            [
                offsets,
                pa.array([message.key() for message in messages], pa.binary()),
                pa.array([message.value() for message in messages], pa.binary()),
                pa.array([time if kind else None for kind, time in stamps], pa.int64()),
            ],
            schema=STORED,
        )
