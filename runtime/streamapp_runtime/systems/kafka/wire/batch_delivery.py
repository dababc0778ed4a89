"""Bringing batches to the leaders of their partitions, in order, each once, whatever fails between.

Batches carry numbers by which a leader knows what it already has. So after a failure what was not confirmed
is sent again as it was, and neither lost nor doubled. Several go out before the first is confirmed; not more
than a leader remembers. The first of a producer's batches for a partition goes out alone: a leader that knows
nothing of the producer accepts any number, so the second could be accepted although the first was not.
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from streamapp_runtime.systems.kafka.wire.batch_format.batch_encoder import EncodedBatch, ProducerIdentity
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.requests import error_codes, produce_request
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import BrokerConnection
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import UNKNOWN_TOPIC, BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.error_codes import ErrorReaction
from streamapp_runtime.systems.kafka.wire.requests.request_retries import (
    CONNECTION_FAILURES,
    RequestRetries,
    error_to_raise,
)
from streamapp_runtime.systems.kafka.wire.requests.request_versions import PRODUCE, PRODUCE_ADDING
from streamapp_runtime.systems.topic_partition import TopicPartition

_AT_ONCE = 4  # requests; a leader knows the last five batches of a producer again
_REQUEST = 8 << 20  # bytes of one
_TOO_FEW_REPLICAS = {19, 20}
_OUT_OF_ORDER, _DUPLICATE = 45, 46


@dataclass(slots=True)
class PartitionQueue:
    """The batches that one partition is still to be given."""

    source: Iterator[EncodedBatch]
    sequence: int  # of the next batch that was not sent yet
    again: deque["SequencedBatch"] = field(default_factory=deque)  # sent, and not confirmed; in order
    end: int | None = None  # after the last record that was confirmed
    exhausted: bool = False
    known: bool = field(init=False)  # whether the leader has a batch of this producer, and checks numbers
    failed: bool = False  # in this round

    def __post_init__(self) -> None:
        self.known = self.sequence > 0

    def next(self) -> "SequencedBatch | None":
        """The next batch to be sent."""
        if self.again:
            return self.again.popleft()
        batch = next(self.source, None)
        if batch is None:
            self.exhausted = True
            return None
        numbered = SequencedBatch(batch, self.sequence)
        self.sequence += batch.count
        return numbered

    def confirmed(self, end: int | None) -> None:
        """A leader has a batch, up to this offset where it says so; one sent again may be confirmed late."""
        self.known = True
        if end is not None:
            self.end = end if self.end is None else max(self.end, end)

    def unconfirmed(self, batch: "SequencedBatch") -> None:
        """Have a batch sent again, before those with higher numbers."""
        insort(self.again, batch, key=lambda one: one.sequence)


@dataclass(frozen=True, slots=True)
class SequencedBatch:
    """A batch with the number of its first record."""

    batch: EncodedBatch
    sequence: int


@dataclass(slots=True)
class _Sent:
    """A request under way."""

    connection: BrokerConnection
    number: int
    batches: dict[TopicPartition, SequencedBatch]


@dataclass(frozen=True, slots=True)
class BatchDelivery:
    """One producer's way to the leaders."""

    cluster: BrokerPool
    transactional_id: str | None
    identity: ProducerIdentity
    timeout_ms: int

    def deliver(self, outboxes: Mapping[TopicPartition, PartitionQueue], attempts: RequestRetries) -> None:
        """Return when leaders have confirmed everything; else raise, and it is not known what they have."""
        left = dict(outboxes)
        while left:
            trouble = [
                error_message
                for request in self._send(left, attempts)
                if (error_message := self._receive(request, left))
            ]
            for outbox in left.values():
                outbox.failed = False
            left = {partition: box for partition, box in left.items() if box.again or not box.exhausted}
            if trouble:
                attempts.failed(trouble[0])
            else:
                attempts.succeeded()

    def _send(
        self, outboxes: Mapping[TopicPartition, PartitionQueue], attempts: RequestRetries
    ) -> list[_Sent]:
        """A few requests to each leader, each with the next batch of its partitions."""
        requests: list[_Sent] = []
        for connection, partitions in self.cluster.by_leader(outboxes, attempts).items():
            boxes = {partition: outboxes[partition] for partition in partitions}
            known = {partition: box for partition, box in boxes.items() if box.known}
            for turn in range(_AT_ONCE):
                batches = _next(known if turn else boxes)
                if not batches:
                    break
                requests.append(self._sent(connection, batches))
        return requests

    def _sent(self, connection: BrokerConnection, batches: dict[TopicPartition, SequencedBatch]) -> _Sent:
        stamped = {
            partition: each.batch.stamped(self.identity, each.sequence) for partition, each in batches.items()
        }
        write = produce_request.produce_request(self.transactional_id, stamped, self.timeout_ms)
        request = PRODUCE_ADDING if self.identity.has_epoch_per_transaction else PRODUCE
        try:
            number = connection.send(request, write)
        except CONNECTION_FAILURES:
            number = 0  # no answer will come, which shows when it is waited for
        return _Sent(connection, number, batches)

    def _receive(self, request: _Sent, outboxes: Mapping[TopicPartition, PartitionQueue]) -> str:
        """Take note of what was confirmed, have the rest sent again; gives what went wrong."""
        try:
            if not request.connection.awaits(request.number):
                raise ConnectionResetError(f"{request.connection.address} closed the connection")
            answer = request.connection.receive(request.number)
            results, throttle_ms = produce_request.produce_results(answer)
            request.connection.throttle(throttle_ms)
            if results.keys() != request.batches.keys():
                raise MalformedError("a leader answered for other partitions than were written to")
        except CONNECTION_FAILURES as error:
            self.cluster.lost(request.connection)
            for partition, batch in request.batches.items():
                self.cluster.forget(partition)
                outboxes[partition].unconfirmed(batch)
            return str(error)
        error_message = ""
        for partition, batch in request.batches.items():
            code, outbox = results[partition].error, outboxes[partition]
            if not code:
                outbox.confirmed(results[partition].base + batch.batch.count)
            elif code == _DUPLICATE:  # which the leader has, though not where
                outbox.confirmed(None)
            else:
                error_message = self._refused(partition, code, outbox)
                outbox.unconfirmed(batch)
        return error_message

    def _refused(self, partition: TopicPartition, error: int, outbox: PartitionQueue) -> str:
        """Prepare to send a batch again; an error that does not go by is raised."""
        error_message = f"writing to {partition}: {error_codes.error_name(error)}"
        if error == _OUT_OF_ORDER and outbox.failed:  # only for the one before it
            return error_message
        if error == UNKNOWN_TOPIC or error_codes.error_reaction(error) is ErrorReaction.LOOK:
            self.cluster.forget(partition)
        elif error in _TOO_FEW_REPLICAS:  # for all there are where the leader was deposed and has not heard
            self.cluster.doubt_leader(partition)
        elif error_codes.error_reaction(error) is not ErrorReaction.RETRY:
            raise error_to_raise(error, error_message)
        outbox.failed = True
        return error_message


def _next(outboxes: Mapping[TopicPartition, PartitionQueue]) -> dict[TopicPartition, SequencedBatch]:
    """The next batch of each partition, as far as they go into one request."""
    next_batches: dict[TopicPartition, SequencedBatch] = {}
    size = 0
    for partition, outbox in outboxes.items():
        if size >= _REQUEST:
            break
        if (batch := outbox.next()) is not None:
            next_batches[partition] = batch
            size += len(batch.batch.records)
    return next_batches
