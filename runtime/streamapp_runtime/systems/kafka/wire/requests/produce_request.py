"""Giving batches to a leader, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamapp_runtime.systems.kafka.wire.requests.request_fields import (
    RequestBody,
    ResponseReader,
    WriteRequest,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

_ERRORS_OF_RECORDS = 8
"""The version since which a refusal says which records are refused, and why."""
_ALL_IN_SYNC = -1

Parts = Sequence[bytes | bytearray | memoryview]


@dataclass(frozen=True, slots=True)
class ProduceResult:
    """The result of one partition's batch: an error, or the offset of its first record."""

    error: int
    base: int


def produce_request(
    transactional_id: str | None, batches: Mapping[TopicPartition, Parts], timeout_ms: int
) -> WriteRequest:
    """One batch to each partition; the leader answers when all replicas that are in sync have it."""

    def one(body: RequestBody, item: tuple[TopicPartition, Parts]) -> None:
        partition, parts = item
        body.text(partition.topic).list(
            [partition], lambda body, _: body.int32(partition.index).octets(parts).tags()
        ).tags()

    def write(body: RequestBody) -> None:
        body.text(transactional_id).int16(_ALL_IN_SYNC).int32(timeout_ms)
        body.list(list(batches.items()), one).tags()

    return write


def produce_results(answer: ResponseReader) -> tuple[Mapping[TopicPartition, ProduceResult], int]:
    """The result of each batch, by partition, and the milliseconds that a quota wants the client to wait."""

    def stream(answer: ResponseReader) -> list[tuple[TopicPartition, ProduceResult]]:
        name = answer.text() or ""
        results = answer.list(lambda answer: _partition(answer, name))
        answer.tags()
        return results

    results = dict(item for items in answer.list(stream) for item in items)
    return results, answer.int32()


def _partition(answer: ResponseReader, stream: str) -> tuple[TopicPartition, ProduceResult]:
    index, error, base = answer.int32(), answer.int16(), answer.int64()
    answer.int64()  # the time it was appended, where the topic wants that
    answer.int64()  # the partition's oldest offset
    if answer.version >= _ERRORS_OF_RECORDS:
        answer.list(_record_error)
        answer.text()  # the same of the batch
    answer.tags()  # who leads the partition now
    return TopicPartition(stream, index), ProduceResult(error, base)


def _record_error(answer: ResponseReader) -> None:
    answer.int32()  # its place in the batch
    answer.text()
    answer.tags()
