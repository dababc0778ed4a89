"""The offsets at which partitions begin and end, by librdkafka's admin client."""

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.rdkafka.client_errors import kafka_error
from streamapp_runtime.systems.kafka.rdkafka.kafka_clients import ANSWER_SECONDS, KafkaClients
from streamapp_runtime.systems.stream_system import DeniedError, UnavailableError

_MOVING = frozenset(
    {
        KafkaError._NOENT,
        KafkaError._TIMED_OUT,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.UNKNOWN_LEADER_EPOCH,
    }
)
"""What is answered while a partition gets a leader: its first, or another."""
_SETTLE_SECONDS = 15.0
"""How long a partition may have no leader that answers."""
_FIRST_ANSWER_SECONDS = 1.0
_PAUSE_SECONDS = 0.05
_NO_SUCH_RECORD = -1
"""What a leader answers that has no record of a time or later."""


class OffsetLookup(Protocol):
    """Whatever looks offsets up for one process. What it raises are errors of `systems.stream_system`."""

    def oldest(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The first offset that each partition still has."""

    def stable_ends(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The offset of each partition before which every transaction has ended."""

    def high_watermarks(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The end of each partition, open transactions and all."""

    def at_time(self, partitions: Collection[Partition], time_ms: int) -> Mapping[Partition, int]:
        """The first offset of each partition that is not older than a time; without those that have none."""

    def doubt_leader(self, partition: Partition) -> None:
        """Have other brokers say who leads a partition: who is asked knows less of it than there is."""

    def close(self) -> None:
        """Let go of all connections."""


@dataclass(frozen=True, slots=True)
class RdkafkaOffsets:
    """Offsets, by the clients of a cluster."""

    cluster: KafkaClients

    def oldest(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The first offset that each partition still has."""
        return _list_offsets(self.cluster, partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)

    def stable_ends(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The offset of each partition before which every transaction has ended."""
        return _list_offsets(self.cluster, partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)

    def high_watermarks(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The end of each partition, open transactions and all."""
        return _list_offsets(self.cluster, partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)

    def at_time(self, partitions: Collection[Partition], time_ms: int) -> Mapping[Partition, int]:
        """The first offset of each partition that is not older than a time; without those that have none."""
        spec, isolation = OffsetSpec.for_timestamp(time_ms), IsolationLevel.READ_UNCOMMITTED
        offsets = _list_offsets(self.cluster, partitions, spec, isolation, lowest=_NO_SUCH_RECORD)
        return {partition: offset for partition, offset in offsets.items() if offset != _NO_SUCH_RECORD}

    def doubt_leader(self, partition: Partition) -> None:
        """Have the client look again; it takes the word of no broker that names an earlier leader."""
        _look_for_leaders(self.cluster, _FIRST_ANSWER_SECONDS, math.inf)

    def close(self) -> None:
        """Nothing: the clients go with the cluster."""


def _list_offsets(
    cluster: KafkaClients,
    partitions: Collection[Partition],
    spec: OffsetSpec,
    isolation: IsolationLevel,
    lowest: int = 0,
) -> dict[Partition, int]:
    """The offsets, asked for again while leaders move.

    The client asks the leader that it knows until it looks at the topics again. Where that broker is gone,
    the client waits for the whole time-out, and then gives an offset below zero (OFFSET_INVALID) and no
    error. So the first request has a short time-out, each next one has twice as long, and in between the
    client looks for the leaders.
    """
    offsets: dict[Partition, int] = {}
    deadline = time.monotonic() + _SETTLE_SECONDS
    wait_seconds = _FIRST_ANSWER_SECONDS
    missing_partitions = list(partitions)
    while missing_partitions:
        request = {TopicPartition(p.stream, p.index): spec for p in missing_partitions}
        answers = cluster.admin.list_offsets(request, isolation_level=isolation, request_timeout=wait_seconds)
        for topic_partition, future in answers.items():
            partition = Partition(topic_partition.topic, topic_partition.partition)
            try:
                offset = int(future.result(2 * ANSWER_SECONDS).offset)
            except KafkaException as error:
                if kafka_error(error).code() not in _MOVING or time.monotonic() > deadline:
                    raise cluster.failure(error, f"asking for the ends of {partition}") from None
            else:
                if offset >= lowest:
                    offsets[partition] = offset
        missing_partitions = [partition for partition in missing_partitions if partition not in offsets]
        if missing_partitions:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"asking for the ends of {missing_partitions[0]}: its leader does not answer"
                )
            time.sleep(_PAUSE_SECONDS)
            _look_for_leaders(cluster, wait_seconds, deadline)
            wait_seconds = min(2 * wait_seconds, ANSWER_SECONDS)
    return offsets


def _look_for_leaders(cluster: KafkaClients, seconds: float, deadline: float) -> None:
    """Have the client look at the topics again; where it asks a broker that does not answer, another does."""
    try:
        cluster.admin.list_topics(timeout=seconds)
    except KafkaException as error:
        failure = cluster.failure(error, "looking for the leaders of partitions")
        if isinstance(failure, DeniedError) or time.monotonic() > deadline:
            raise failure from None
