"""The requests that open, extend and end a transaction, to the broker that keeps it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

from streamapp_runtime.systems.kafka.wire.batch_format.batch_encoder import ProducerIdentity
from streamapp_runtime.systems.kafka.wire.requests import error_codes
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import BrokerConnection
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import UNKNOWN_TOPIC, BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.error_codes import ErrorReaction
from streamapp_runtime.systems.kafka.wire.requests.request_fields import (
    RequestBody,
    ResponseReader,
    WriteRequest,
)
from streamapp_runtime.systems.kafka.wire.requests.request_retries import (
    CONNECTION_FAILURES,
    RequestRetries,
    error_to_raise,
)
from streamapp_runtime.systems.kafka.wire.requests.request_versions import (
    ADD_PARTITIONS,
    END_EPOCH,
    END_TRANSACTION,
    INIT_PRODUCER_ID,
    BrokerRequest,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

T = TypeVar("T")

_NAMED_EPOCH = 3
"""The version since which InitProducerId may name an epoch to be replaced."""
_NOT_ATTEMPTED = 55  # another partition of the same request was refused


@dataclass(slots=True)
class TransactionCoordinator:
    """The broker that keeps the transactions of one name, found again when it moves.

    Who has no name asks any broker, and begins no transaction.
    """

    cluster: BrokerPool
    transactional_id: str | None
    has_repeated_end: bool = False  # a request may yet arrive that ends the next one of its epoch
    _connection: BrokerConnection | None = field(default=None, repr=False)

    def initialise(self, timeout_ms: int) -> ProducerIdentity:
        """Take over the name: whoever had it is fenced, and what it had open is void."""

        def write(body: RequestBody) -> None:
            body.text(self.transactional_id).int32(timeout_ms)
            if body.version >= _NAMED_EPOCH:
                body.int64(-1).int16(-1)  # whichever there is
            body.tags()

        def read(answer: ResponseReader) -> tuple[int, tuple[int, int]]:
            return answer.int16(), (answer.int64(), answer.int16())

        producer, epoch = self._asked("beginning to write", INIT_PRODUCER_ID, write, read)
        self.has_repeated_end = False  # what was sent before is of another epoch
        if self.transactional_id is None:
            return ProducerIdentity(producer, epoch, transactional=False)
        own_epochs = self.cluster.features.has_epoch_per_transaction
        return ProducerIdentity(producer, epoch, has_epoch_per_transaction=own_epochs)

    def add(self, identity: ProducerIdentity, partitions: Collection[TopicPartition]) -> None:
        """Have the transaction hold these partitions too."""

        def write(body: RequestBody) -> None:
            self._name(body, identity).list(_by_stream(partitions), _write_stream).tags()

        def read(answer: ResponseReader) -> tuple[int, None]:
            partition_errors = [
                (stream, error) for stream, codes in answer.list(_read_stream) for error in codes if error
            ]
            for stream, error in partition_errors:
                if error_codes.error_reaction(error) is ErrorReaction.DENIED:
                    doing = request_description(f"writing to {stream}", self.transactional_id)
                    raise error_to_raise(error, f"{doing}: {error_codes.error_name(error)}")
            codes = [error for _, error in partition_errors]
            return next((error for error in codes if error != _NOT_ATTEMPTED), *codes[:1] or [0]), None

        self._asked("adding partitions to a transaction", ADD_PARTITIONS, write, read)

    def end(self, identity: ProducerIdentity, *, commit: bool) -> ProducerIdentity:
        """Make everything visible, or drop it; gives who writes the next transaction.

        Asked again, it answers as it did. Where each transaction has an epoch of its own, a request that
        comes late is refused by its epoch; else it ends whatever is open then.
        """
        own_epoch = identity.has_epoch_per_transaction

        def write(body: RequestBody) -> None:
            self._name(body, identity).int8(commit).tags()

        def read(answer: ResponseReader) -> tuple[int, ProducerIdentity]:
            error = answer.int16()
            if not own_epoch:
                return error, identity
            return error, replace(identity, producer=answer.int64(), epoch=answer.int16())

        doing = "committing" if commit else "aborting"
        return self._asked(doing, END_EPOCH if own_epoch else END_TRANSACTION, write, read)

    def _broker(self, attempts: RequestRetries) -> BrokerConnection:
        if self.transactional_id is None:
            return self.cluster.any(attempts)
        return self.cluster.coordinator(self.transactional_id, attempts)

    def _name(self, body: RequestBody, identity: ProducerIdentity) -> RequestBody:
        return body.text(self.transactional_id).int64(identity.producer).int16(identity.epoch)

    def _asked(
        self,
        doing: str,
        request: BrokerRequest,
        write: WriteRequest,
        read: Callable[[ResponseReader], tuple[int, T]],
    ) -> T:
        attempts = self.cluster.retries(request_description(doing, self.transactional_id))
        while True:
            if self._connection is None:
                self._connection = self._broker(attempts)
            seconds = None if self.transactional_id else attempts.answer_seconds  # another would do as well
            try:
                answer = self._connection.ask(request, write, seconds)
                error, value = read(answer)
            except CONNECTION_FAILURES as failure:
                self.cluster.lost(self._connection)
                self._connection = None
                self.has_repeated_end |= request is END_TRANSACTION
                attempts.failed(failure)
                continue
            if not error:
                return value
            if error == UNKNOWN_TOPIC:
                attempts.missing("such partition")
            elif attempts.refused(error) is ErrorReaction.LOOK:
                self.cluster.doubt(self._connection)
                self._connection = None


def request_description(doing: str, transactional_id: str | None) -> str:
    """The description of a request: what is being done, and by whom."""
    return doing if transactional_id is None else f'{doing} as "{transactional_id}"'


def _by_stream(partitions: Collection[TopicPartition]) -> list[tuple[str, list[int]]]:
    ordered = sorted(partitions, key=lambda each: (each.topic, each.index))
    return [
        (stream, [each.index for each in group])
        for stream, group in groupby(ordered, lambda each: each.topic)
    ]


def _write_stream(body: RequestBody, stream: tuple[str, list[int]]) -> None:
    name, indexes = stream
    body.text(name).list(indexes, RequestBody.int32).tags()


def _read_stream(answer: ResponseReader) -> tuple[str, list[int]]:
    stream, errors = answer.text() or "", answer.list(_read_error)
    answer.tags()
    return stream, errors


def _read_error(answer: ResponseReader) -> int:
    answer.int32()  # the partition
    error = answer.int16()
    answer.tags()
    return error
