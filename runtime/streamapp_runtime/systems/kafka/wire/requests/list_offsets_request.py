"""Asking leaders where partitions begin and end, and what they answer."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from streamapp_runtime.systems.kafka.wire.requests.request_fields import (
    RequestBody,
    ResponseReader,
    WriteRequest,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

LATEST, EARLIEST = -1, -2
NO_SUCH_RECORD = -1
"""What a leader answers that has no record of a time or later."""


@dataclass(frozen=True, slots=True)
class OffsetQuestion:
    """The offset that is asked for: of a time in milliseconds, or of LATEST or EARLIEST."""

    time: int
    committed: bool  # whether the end lies before what is undecided


def list_offsets_request(partitions: Collection[TopicPartition], question: OffsetQuestion) -> WriteRequest:
    """The same question about some partitions of one leader."""
    by_topic: dict[str, list[int]] = {}
    for partition in partitions:
        by_topic.setdefault(partition.topic, []).append(partition.index)

    def topic_body(body: RequestBody, topic: str) -> None:
        body.text(topic).list(by_topic[topic], lambda body, index: body.int32(index).int64(question.time))

    return lambda body: body.int32(-1).int8(question.committed).list(list(by_topic), topic_body)


def list_offsets_results(answer: ResponseReader) -> Mapping[TopicPartition, tuple[int, int]]:
    """By partition an error, and the offset."""
    results: dict[TopicPartition, tuple[int, int]] = {}
    for _ in range(answer.int32()):
        topic = answer.text() or ""
        for _ in range(answer.int32()):
            partition, error = TopicPartition(topic, answer.int32()), answer.int16()
            answer.int64()  # the time of the record
            results[partition] = error, answer.int64()
    return results
