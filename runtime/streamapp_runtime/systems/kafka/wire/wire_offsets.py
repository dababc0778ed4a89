"""The bounds of partitions, by the protocol itself: each leader is asked once for all of its own."""

from collections.abc import Collection, Mapping

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.requests import error_codes
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import BrokerConnection
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import UNKNOWN_TOPIC, BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.error_codes import ErrorReaction
from streamapp_runtime.systems.kafka.wire.requests.list_offsets_request import (
    EARLIEST,
    LATEST,
    NO_SUCH_RECORD,
    EpochQuestion,
    OffsetAnswer,
    OffsetLookup,
    OffsetQuestion,
)
from streamapp_runtime.systems.kafka.wire.requests.request_retries import (
    CONNECTION_FAILURES,
    RequestRetries,
    error_to_raise,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

_OLDEST = OffsetQuestion(EARLIEST, committed=False)
_STABLE_END = OffsetQuestion(LATEST, committed=True)
_HIGH_WATERMARK = OffsetQuestion(LATEST, committed=False)


class WireOffsets:
    """Looks offsets up; one object per process, used by one thread at a time."""

    def __init__(self, cluster: BrokerPool) -> None:
        self._cluster = cluster

    def oldest(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The first offset that each partition still has."""
        return _offsets(self._asked(partitions, _OLDEST))

    def stable_ends(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The offset of each partition before which every transaction has ended."""
        return _offsets(self._asked(partitions, _STABLE_END))

    def epoch_stable_ends(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, tuple[int, int]]:
        """The same, each with the epoch of the leader that says so."""
        answers = self._asked(partitions, _STABLE_END)
        return {partition: (answer.offset, answer.epoch) for partition, answer in answers.items()}

    def epoch_ends(self, epochs: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """The offset at which the epoch of a leader ended; without those of which leaders know nothing."""
        ends = _offsets(self._asked(epochs, EpochQuestion(epochs)))
        return {partition: end for partition, end in ends.items() if end != NO_SUCH_RECORD}

    def high_watermarks(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The end of each partition, open transactions and all."""
        return _offsets(self._asked(partitions, _HIGH_WATERMARK))

    def at_time(self, partitions: Collection[TopicPartition], time_ms: int) -> Mapping[TopicPartition, int]:
        """The first offset of each partition that is not older than a time; without those that have none."""
        offsets = _offsets(self._asked(partitions, OffsetQuestion(time_ms, committed=False)))
        return {partition: offset for partition, offset in offsets.items() if offset != NO_SUCH_RECORD}

    def doubt_leader(self, partition: TopicPartition) -> None:
        """Have other brokers say who leads a partition: who is asked knows less of it than there is."""
        self._cluster.doubt_leader(partition)

    def close(self) -> None:
        """Let go of all connections."""
        self._cluster.close()

    def _asked(
        self, partitions: Collection[TopicPartition], question: OffsetLookup
    ) -> dict[TopicPartition, OffsetAnswer]:
        """The answers, asked for again of the next leader where one is gone."""
        answers: dict[TopicPartition, OffsetAnswer] = {}
        missing = list(partitions)
        doing = f"asking for the ends of {missing[0]}" if missing else ""
        attempts = self._cluster.retries(doing)
        while missing:
            trouble = ""
            for connection, number, of_leader in self._sent(missing, question, attempts):
                trouble = self._take(question, connection, number, of_leader, answers) or trouble
            missing = [partition for partition in missing if partition not in answers]
            if trouble and missing:
                attempts.doing = f"asking for the ends of {missing[0]}"
                attempts.failed(trouble)
        return answers

    def _sent(
        self, partitions: Collection[TopicPartition], question: OffsetLookup, attempts: RequestRetries
    ) -> list[tuple[BrokerConnection, int, list[TopicPartition]]]:
        """A request to each leader."""
        requests = []
        for connection, of_leader in self._cluster.by_leader(partitions, attempts).items():
            try:
                number = connection.send(question.request, question.write(of_leader))
            except CONNECTION_FAILURES:
                number = 0  # no answer will come, which shows when it is waited for
            requests.append((connection, number, of_leader))
        return requests

    def _take(
        self,
        question: OffsetLookup,
        connection: BrokerConnection,
        number: int,
        partitions: Collection[TopicPartition],
        answers: dict[TopicPartition, OffsetAnswer],
    ) -> str:
        """Note what a leader answers; gives what went wrong, where that goes by."""
        try:
            if not connection.awaits(number):
                raise ConnectionResetError(f"{connection.address} closed the connection")
            results = question.read(connection.receive(number))
            if results.keys() != set(partitions):
                raise MalformedError("a leader answered for other partitions than were asked for")
        except CONNECTION_FAILURES as error:
            self._cluster.lost(connection)
            for partition in partitions:
                self._cluster.forget(partition)
            return str(error)
        trouble = ""
        for partition, answer in results.items():
            error_code = answer.error
            if not error_code:
                answers[partition] = answer
                continue
            trouble = error_codes.error_name(error_code)
            reaction = error_codes.error_reaction(error_code)
            if error_code == UNKNOWN_TOPIC or reaction is ErrorReaction.LOOK:
                self._cluster.forget(partition)  # whether there is no such partition says the look for it
            elif reaction is not ErrorReaction.RETRY:
                raise error_to_raise(error_code, f"asking for the ends of {partition}: {trouble}")
        return trouble


def _offsets(answers: Mapping[TopicPartition, OffsetAnswer]) -> dict[TopicPartition, int]:
    return {partition: answer.offset for partition, answer in answers.items()}
