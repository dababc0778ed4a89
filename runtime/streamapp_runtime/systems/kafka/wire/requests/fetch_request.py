"""Asking a leader for records, and what it answers."""

from dataclasses import dataclass

import numpy as np

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import AbortedTransaction
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets
from streamapp_runtime.systems.kafka.wire.requests.request_fields import RequestBody, ResponseReader

FETCH = (1, 11)
_READ_COMMITTED = 1
_WAIT_MS = 100  # for records where there are none yet


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The answer; its records lie in `octets` from `begin` to `end`."""

    throttled: int
    error: int
    stable_end: int
    aborted: list[AbortedTransaction]
    octets: Octets
    begin: int
    end: int


def fetch_request(partition: Partition, offset: int, size: int) -> RequestBody:
    """Committed records from an offset on, about so many bytes of them."""

    def partition_body(body: RequestBody, partition: Partition) -> None:
        body.int32(partition.index).int32(-1).int64(offset).int64(-1).int32(size)

    def topic(body: RequestBody, partition: Partition) -> None:
        body.text(partition.stream).list([partition], partition_body)

    body = RequestBody().int32(-1).int32(_WAIT_MS).int32(1).int32(size).int8(_READ_COMMITTED)
    body.int32(0).int32(-1)  # no session
    return body.list([partition], topic).int32(0).text("")


def fetch_result(answer: ResponseReader) -> FetchResult:
    """What came for the one partition that was asked for."""
    throttled, error = answer.int32(), answer.int16()
    answer.int32()  # the session
    if error:
        return FetchResult(throttled, error, -1, [], np.empty(0, np.uint8), 0, 0)
    if answer.int32() != 1 or answer.text() is None or answer.int32() != 1:
        raise MalformedError("a leader answered for other partitions than were asked for")
    answer.int32()  # the partition
    error = answer.int16()
    answer.int64()  # the end, open transactions and all
    stable_end = answer.int64()
    answer.int64()  # the oldest offset
    aborted = answer.list(lambda answer: AbortedTransaction(answer.int64(), answer.int64()))
    answer.int32()  # another replica to ask, which is for those who name their rack
    octets, begin, end = answer.octets()
    return FetchResult(throttled, error, stable_end, aborted, octets, begin, end)
