"""Bringing batches to the leaders of their partitions, in order, each once, whatever fails between.

Batches carry numbers by which a leader knows what it already has. So after a failure what was not confirmed
is sent again as it was, and neither lost nor doubled. Several go out before the first is confirmed; not more
than a leader remembers.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.wire import errors, produce
from streamapp_runtime.systems.kafka.wire.attempts import FAILURES, Attempts, refusal
from streamapp_runtime.systems.kafka.wire.cluster import UNKNOWN_TOPIC, Cluster
from streamapp_runtime.systems.kafka.wire.connection import Connection
from streamapp_runtime.systems.kafka.wire.encode import Encoded, Identity
from streamapp_runtime.systems.kafka.wire.errors import Reaction
from streamapp_runtime.systems.kafka.wire.malformed import MalformedError

_AT_ONCE = 4  # requests; a leader knows the last five batches of a producer again
_REQUEST = 8 << 20  # bytes of one
_OUT_OF_ORDER, _DUPLICATE = 45, 46


@dataclass(slots=True)
class Outbox:
    """What one partition is still to be given."""

    source: Iterator[Encoded]
    sequence: int  # of the next batch that was not sent yet
    again: deque["Numbered"] = field(default_factory=deque)  # sent, and not confirmed
    end: int | None = None  # after what was confirmed last
    exhausted: bool = False
    failed: bool = False  # in this round

    def next(self) -> "Numbered | None":
        """The next batch to be sent."""
        if self.again:
            return self.again.popleft()
        batch = next(self.source, None)
        if batch is None:
            self.exhausted = True
            return None
        numbered = Numbered(batch, self.sequence)
        self.sequence += batch.count
        return numbered


@dataclass(frozen=True, slots=True)
class Numbered:
    """A batch with the number of its first record."""

    batch: Encoded
    sequence: int


@dataclass(slots=True)
class _Sent:
    """A request under way."""

    connection: Connection
    number: int
    batches: dict[Partition, Numbered]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One producer's way to the leaders."""

    cluster: Cluster
    transactional_id: str | None
    identity: Identity
    timeout_ms: int

    def deliver(self, outboxes: Mapping[Partition, Outbox], attempts: Attempts) -> None:
        """Return when leaders have confirmed everything; else raise, and it is not known what they have."""
        left = dict(outboxes)
        while left:
            trouble = [said for sent in self._send(left, attempts) if (said := self._receive(sent, left))]
            for outbox in left.values():
                outbox.failed = False
            left = {partition: box for partition, box in left.items() if box.again or not box.exhausted}
            if trouble:
                attempts.failed(trouble[0])
            else:
                attempts.succeeded()

    def _send(self, outboxes: Mapping[Partition, Outbox], attempts: Attempts) -> list[_Sent]:
        """A few requests to each leader, each with the next batch of its partitions."""
        sent: list[_Sent] = []
        leaders: dict[Connection, dict[Partition, Outbox]] = {}
        for partition, outbox in outboxes.items():
            leaders.setdefault(self.cluster.leader(partition, attempts), {})[partition] = outbox
        for connection, boxes in leaders.items():
            for _ in range(_AT_ONCE):
                batches = _next(boxes)
                if not batches:
                    break
                sent.append(self._sent(connection, batches))
        return sent

    def _sent(self, connection: Connection, batches: dict[Partition, Numbered]) -> _Sent:
        stamped = {
            partition: each.batch.stamped(self.identity, each.sequence) for partition, each in batches.items()
        }
        body = produce.request(self.transactional_id, stamped, self.timeout_ms)
        try:
            number = connection.send(*produce.PRODUCE, body)
        except FAILURES:
            number = 0  # no answer will come, which shows when it is waited for
        return _Sent(connection, number, batches)

    def _receive(self, sent: _Sent, outboxes: Mapping[Partition, Outbox]) -> str:
        """Take note of what was confirmed, have the rest sent again; gives what went wrong."""
        try:
            if not sent.connection.awaits(sent.number):
                raise ConnectionResetError(f"{sent.connection.address} closed the connection")
            taken = produce.answered(sent.connection.receive(sent.number))
            if taken.keys() != sent.batches.keys():
                raise MalformedError("a leader answered for other partitions than were written to")
        except FAILURES as error:
            self.cluster.lost(sent.connection)
            for partition, batch in sent.batches.items():
                self.cluster.forget(partition)
                outboxes[partition].again.append(batch)
            return str(error)
        said = ""
        for partition, batch in sent.batches.items():
            code, outbox = taken[partition].error, outboxes[partition]
            if not code:
                outbox.end = taken[partition].base + batch.batch.count
            elif code != _DUPLICATE:  # which the leader has, though not where
                said = self._unconfirmed(partition, code, outbox)
                outbox.again.append(batch)
        return said

    def _unconfirmed(self, partition: Partition, error: int, outbox: Outbox) -> str:
        """Prepare to send a batch again; an error that does not go by is raised."""
        said = f"writing to {partition}: {errors.name(error)}"
        if error == _OUT_OF_ORDER and outbox.failed:  # only for the one before it
            return said
        if error == UNKNOWN_TOPIC or errors.reaction(error) is Reaction.LOOK:
            self.cluster.forget(partition)
        elif errors.reaction(error) is not Reaction.RETRY:
            raise refusal(error, said)
        outbox.failed = True
        return said


def _next(outboxes: Mapping[Partition, Outbox]) -> dict[Partition, Numbered]:
    """The next batch of each partition, as far as they go into one request."""
    found: dict[Partition, Numbered] = {}
    size = 0
    for partition, outbox in outboxes.items():
        if size >= _REQUEST:
            break
        if (batch := outbox.next()) is not None:
            found[partition] = batch
            size += len(batch.batch.records)
    return found
