"""Where partitions begin and end."""

import time
from collections.abc import Collection, Mapping

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.rdkafka.client_errors import kafka_error
from streamapp_runtime.systems.kafka.rdkafka.kafka_clients import ANSWER_SECONDS, KafkaClients

_MOVING = frozenset(
    {
        KafkaError._NOENT,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.UNKNOWN_LEADER_EPOCH,
    }
)
"""What is answered while a partition gets a leader: its first, or another."""
_MOVE_SECONDS = 5.0
_PAUSE_SECONDS = 0.05


def oldest_offsets(cluster: KafkaClients, partitions: Collection[Partition]) -> Mapping[Partition, int]:
    """The first offset that each partition still has."""
    return _asked(cluster, partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)


def stable_ends(cluster: KafkaClients, partitions: Collection[Partition]) -> Mapping[Partition, int]:
    """The offset of each partition before which every transaction has ended."""
    return _asked(cluster, partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)


def high_watermarks(cluster: KafkaClients, partitions: Collection[Partition]) -> Mapping[Partition, int]:
    """The end of each partition, open transactions and all."""
    return _asked(cluster, partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)


def _asked(
    cluster: KafkaClients, partitions: Collection[Partition], spec: OffsetSpec, isolation: IsolationLevel
) -> dict[Partition, int]:
    found: dict[Partition, int] = {}
    until = time.monotonic() + _MOVE_SECONDS
    while left := [partition for partition in partitions if partition not in found]:
        asked = {TopicPartition(p.stream, p.index): spec for p in left}
        answers = cluster.admin.list_offsets(asked, isolation_level=isolation, request_timeout=ANSWER_SECONDS)
        for place, future in answers.items():
            partition = Partition(place.topic, place.partition)
            try:
                found[partition] = int(future.result(2 * ANSWER_SECONDS).offset)
            except KafkaException as error:
                if kafka_error(error).code() not in _MOVING or time.monotonic() > until:
                    raise cluster.failure(error, f"asking for the ends of {partition}") from None
        if len(found) < len(partitions):
            time.sleep(_PAUSE_SECONDS)
    return found
