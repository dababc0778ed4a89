"""The bounds of partitions, by the protocol itself: each leader is asked once for all of its own."""

from collections.abc import Collection, Mapping

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.requests import error_codes, list_offsets_request
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import BrokerConnection
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import UNKNOWN_TOPIC, BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.error_codes import ErrorReaction
from streamapp_runtime.systems.kafka.wire.requests.list_offsets_request import (
    EARLIEST,
    LATEST,
    NO_SUCH_RECORD,
    OffsetQuestion,
)
from streamapp_runtime.systems.kafka.wire.requests.request_retries import (
    CONNECTION_FAILURES,
    RequestRetries,
    error_to_raise,
)
from streamapp_runtime.systems.kafka.wire.requests.request_versions import LIST_OFFSETS
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
        return self._asked(partitions, _OLDEST)

    def stable_ends(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The offset of each partition before which every transaction has ended."""
        return self._asked(partitions, _STABLE_END)

    def high_watermarks(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The end of each partition, open transactions and all."""
        return self._asked(partitions, _HIGH_WATERMARK)

    def at_time(self, partitions: Collection[TopicPartition], time_ms: int) -> Mapping[TopicPartition, int]:
        """The first offset of each partition that is not older than a time; without those that have none."""
        offsets = self._asked(partitions, OffsetQuestion(time_ms, committed=False))
        return {partition: offset for partition, offset in offsets.items() if offset != NO_SUCH_RECORD}

    def doubt_leader(self, partition: TopicPartition) -> None:
        """Have other brokers say who leads a partition: who is asked knows less of it than there is."""
        self._cluster.doubt_leader(partition)

    def close(self) -> None:
        """Let go of all connections."""
        self._cluster.close()

    def _asked(
        self, partitions: Collection[TopicPartition], question: OffsetQuestion
    ) -> dict[TopicPartition, int]:
        """The offsets, asked for again of the next leader where one is gone."""
        offsets: dict[TopicPartition, int] = {}
        missing = list(partitions)
        doing = f"asking for the ends of {missing[0]}" if missing else ""
        attempts = self._cluster.retries(doing)
        while missing:
            trouble = ""
            for connection, number, of_leader in self._sent(missing, question, attempts):
                trouble = self._take(connection, number, of_leader, offsets) or trouble
            missing = [partition for partition in missing if partition not in offsets]
            if trouble and missing:
                attempts.doing = f"asking for the ends of {missing[0]}"
                attempts.failed(trouble)
        return offsets

    def _sent(
        self, partitions: Collection[TopicPartition], question: OffsetQuestion, attempts: RequestRetries
    ) -> list[tuple[BrokerConnection, int, list[TopicPartition]]]:
        """A request to each leader."""
        requests = []
        for connection, of_leader in self._cluster.by_leader(partitions, attempts).items():
            write = list_offsets_request.list_offsets_request(of_leader, question)
            try:
                number = connection.send(LIST_OFFSETS, write)
            except CONNECTION_FAILURES:
                number = 0  # no answer will come, which shows when it is waited for
            requests.append((connection, number, of_leader))
        return requests

    def _take(
        self,
        connection: BrokerConnection,
        number: int,
        partitions: Collection[TopicPartition],
        offsets: dict[TopicPartition, int],
    ) -> str:
        """Note what a leader answers; gives what went wrong, where that goes by."""
        try:
            if not connection.awaits(number):
                raise ConnectionResetError(f"{connection.address} closed the connection")
            results = list_offsets_request.list_offsets_results(connection.receive(number))
            if results.keys() != set(partitions):
                raise MalformedError("a leader answered for other partitions than were asked for")
        except CONNECTION_FAILURES as error:
            self._cluster.lost(connection)
            for partition in partitions:
                self._cluster.forget(partition)
            return str(error)
        trouble = ""
        for partition, (error_code, offset) in results.items():
            if not error_code:
                offsets[partition] = offset
                continue
            trouble = error_codes.error_name(error_code)
            reaction = error_codes.error_reaction(error_code)
            if error_code == UNKNOWN_TOPIC or reaction is ErrorReaction.LOOK:
                self._cluster.forget(partition)  # whether there is no such partition says the look for it
            elif reaction is not ErrorReaction.RETRY:
                raise error_to_raise(error_code, f"asking for the ends of {partition}: {trouble}")
        return trouble
