"""Giving batches to a leader, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.wire.requests.request_fields import RequestBody, ResponseReader

PRODUCE = (0, 7)
_ALL_IN_SYNC = -1

Parts = Sequence[bytes | bytearray | memoryview]


@dataclass(frozen=True, slots=True)
class ProduceResult:
    """The result of one partition's batch: an error, or the offset of its first record."""

    error: int
    base: int


def produce_request(
    transactional_id: str | None, batches: Mapping[Partition, Parts], timeout_ms: int
) -> RequestBody:
    """One batch to each partition; the leader answers when all replicas that are in sync have it."""

    def one(body: RequestBody, item: tuple[Partition, Parts]) -> None:
        partition, parts = item
        body.text(partition.stream).list(
            [partition], lambda body, _: body.int32(partition.index).octets(parts)
        )

    body = RequestBody().text(transactional_id).int16(_ALL_IN_SYNC).int32(timeout_ms)
    return body.list(list(batches.items()), one)


def produce_results(answer: ResponseReader) -> Mapping[Partition, ProduceResult]:
    """The result of each batch, by partition."""

    def stream(answer: ResponseReader) -> list[tuple[Partition, ProduceResult]]:
        name = answer.text() or ""
        return answer.list(lambda answer: _partition(answer, name))

    results = dict(item for items in answer.list(stream) for item in items)
    answer.int32()  # how long it was throttled
    return results


def _partition(answer: ResponseReader, stream: str) -> tuple[Partition, ProduceResult]:
    index, error, base = answer.int32(), answer.int16(), answer.int64()
    answer.int64()  # the time it was appended, where the topic wants that
    answer.int64()  # the partition's oldest offset
    return Partition(stream, index), ProduceResult(error, base)
