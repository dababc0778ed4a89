"""Asking a leader for records, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import AbortedTransaction
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets
from streamapp_runtime.systems.kafka.wire.requests.request_fields import (
    RequestBody,
    ResponseReader,
    WriteRequest,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

NO_REPLICA = -1
_READ_COMMITTED = 1
_WAIT_MS = 100  # for records where there are none yet


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The answer; its records lie in `octets` from `begin` to `end`."""

    throttled: bool  # a quota is used up: nothing is said of the partition
    error: int
    stable_end: int
    preferred_replica: int  # the broker to ask in place of the leader; -1 for none
    aborted: list[AbortedTransaction]
    octets: Octets
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class FetchStart:
    """From which offset on a partition is asked for, and about how many bytes."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The bytes that are asked for at most, and the rack of who asks.

    A leader that knows racks has who names one read from a replica in it.
    """

    partition: int = 8 << 20
    answer: int = 8 << 20
    rack: str = ""


DEFAULT_LIMITS = FetchLimits()


def fetch_request(
    starts: Mapping[TopicPartition, FetchStart], wait_ms: int = _WAIT_MS, rack: str = ""
) -> WriteRequest:
    """Committed records of some partitions of one leader; it waits so long while there are none."""
    by_topic: dict[str, list[TopicPartition]] = {}
    for partition in starts:
        by_topic.setdefault(partition.topic, []).append(partition)

    def partition_body(body: RequestBody, partition: TopicPartition) -> None:
        start = starts[partition]
        body.int32(partition.index).int32(-1).int64(start.offset).int64(-1).int32(start.size)

    def topic_body(body: RequestBody, topic: str) -> None:
        body.text(topic).list(by_topic[topic], partition_body)

    def write(body: RequestBody) -> None:
        size = sum(start.size for start in starts.values())
        body.int32(-1).int32(wait_ms).int32(1).int32(size).int8(_READ_COMMITTED)
        body.int32(0).int32(-1)  # no session
        body.list(list(by_topic), topic_body).int32(0).text(rack)

    return write


def fetch_results(
    answer: ResponseReader, partitions: Sequence[TopicPartition]
) -> Mapping[TopicPartition, FetchResult]:
    """The result for each of the partitions that were asked for."""
    error = answer.int16()
    answer.int32()  # the session
    if error:
        return dict.fromkeys(partitions, _nothing(error=error))
    results: dict[TopicPartition, FetchResult] = {}
    for _ in range(answer.int32()):
        topic = answer.text() or ""
        for _ in range(answer.int32()):
            partition = TopicPartition(topic, answer.int32())
            results[partition] = _partition_result(answer)
    if not results and answer.throttle_ms > 0:
        return dict.fromkeys(partitions, _nothing(throttled=True))
    if results.keys() != set(partitions):
        raise MalformedError("a leader answered for other partitions than were asked for")
    return results


def _nothing(*, throttled: bool = False, error: int = 0) -> FetchResult:
    return FetchResult(throttled, error, -1, NO_REPLICA, [], np.empty(0, np.uint8), 0, 0)


def _partition_result(answer: ResponseReader) -> FetchResult:
    """The result for one partition, which follows its number."""
    error = answer.int16()
    answer.int64()  # the end, open transactions and all
    stable_end = answer.int64()
    answer.int64()  # the oldest offset
    aborted = answer.list(lambda answer: AbortedTransaction(answer.int64(), answer.int64()))
    preferred_replica = answer.int32()
    octets, begin, end = answer.octets()
    return FetchResult(False, error, stable_end, preferred_replica, aborted, octets, begin, end)
