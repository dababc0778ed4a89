"""Asking leaders where partitions begin and end, and where the epochs of earlier leaders ended."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from streamapp_runtime.systems.kafka.wire.requests.request_fields import (
    RequestBody,
    ResponseReader,
    WriteRequest,
)
from streamapp_runtime.systems.kafka.wire.requests.request_versions import (
    LIST_OFFSETS,
    OFFSET_FOR_LEADER_EPOCH,
    BrokerRequest,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

LATEST, EARLIEST = -1, -2
NO_SUCH_RECORD = -1
"""The offset in the answer of a leader that has no record of a time or later, or does not know an epoch."""
_ANY_EPOCH: Final = -1
_NO_REPLICA: Final = -1


@dataclass(frozen=True, slots=True)
class OffsetAnswer:
    """The answer of a leader about one partition: an error, or an offset and the epoch of a leader."""

    error: int
    offset: int
    epoch: int


class OffsetLookup(Protocol):
    """A question about some partitions of one leader."""

    @property
    def request(self) -> BrokerRequest:
        """The request that asks it."""

    def write(self, partitions: Collection[TopicPartition]) -> WriteRequest:
        """The question about these partitions."""

    def read(self, answer: ResponseReader) -> Mapping[TopicPartition, OffsetAnswer]:
        """The answers, by partition."""


@dataclass(frozen=True, slots=True)
class OffsetQuestion:
    """The offset that is asked for: of a time in milliseconds, or of LATEST or EARLIEST."""

    time: int
    committed: bool  # whether the end lies before what is undecided
    request: BrokerRequest = LIST_OFFSETS

    def write(self, partitions: Collection[TopicPartition]) -> WriteRequest:
        """The same question about each."""
        write_topics = _by_topic(
            partitions, lambda body, one: body.int32(one.index).int32(_ANY_EPOCH).int64(self.time)
        )
        return lambda body: write_topics(body.int32(_NO_REPLICA).int8(self.committed))

    def read(self, answer: ResponseReader) -> Mapping[TopicPartition, OffsetAnswer]:
        """The offsets; the epochs are those of the leaders where it is LATEST that is asked for."""

        def read_partition(topic: str) -> tuple[TopicPartition, OffsetAnswer]:
            partition, error = TopicPartition(topic, answer.int32()), answer.int16()
            answer.int64()  # the time of the record
            return partition, OffsetAnswer(error, answer.int64(), answer.int32())

        return _read_topics(answer, read_partition)


@dataclass(frozen=True, slots=True)
class EpochQuestion:
    """The ends of epochs: the offsets at which the histories of partitions went on under later leaders."""

    epochs: Mapping[TopicPartition, int]
    request: BrokerRequest = OFFSET_FOR_LEADER_EPOCH

    def write(self, partitions: Collection[TopicPartition]) -> WriteRequest:
        """The question about the epoch of each."""
        write_topics = _by_topic(
            partitions, lambda body, one: body.int32(one.index).int32(_ANY_EPOCH).int32(self.epochs[one])
        )
        return lambda body: write_topics(body.int32(_NO_REPLICA))

    def read(self, answer: ResponseReader) -> Mapping[TopicPartition, OffsetAnswer]:
        """The ends."""

        def read_partition(topic: str) -> tuple[TopicPartition, OffsetAnswer]:
            error, partition, epoch = answer.int16(), answer.int32(), answer.int32()
            return TopicPartition(topic, partition), OffsetAnswer(error, answer.int64(), epoch)

        return _read_topics(answer, read_partition)


def _by_topic(
    partitions: Collection[TopicPartition], write: Callable[[RequestBody, TopicPartition], object]
) -> Callable[[RequestBody], RequestBody]:
    by_topic: dict[str, list[TopicPartition]] = {}
    for partition in partitions:
        by_topic.setdefault(partition.topic, []).append(partition)
    return lambda body: body.list(
        list(by_topic), lambda body, topic: body.text(topic).list(by_topic[topic], write)
    )


def _read_topics(
    answer: ResponseReader, read_partition: Callable[[str], tuple[TopicPartition, OffsetAnswer]]
) -> dict[TopicPartition, OffsetAnswer]:
    results: dict[TopicPartition, OffsetAnswer] = {}
    for _ in range(answer.int32()):
        topic = answer.text() or ""
        results |= dict(read_partition(topic) for _ in range(answer.int32()))
    return results
