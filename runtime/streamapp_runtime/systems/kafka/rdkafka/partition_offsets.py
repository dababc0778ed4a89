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
    return _list_offsets(cluster, partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)


def stable_ends(cluster: KafkaClients, partitions: Collection[Partition]) -> Mapping[Partition, int]:
    """The offset of each partition before which every transaction has ended."""
    return _list_offsets(cluster, partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)


def high_watermarks(cluster: KafkaClients, partitions: Collection[Partition]) -> Mapping[Partition, int]:
    """The end of each partition, open transactions and all."""
    return _list_offsets(cluster, partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)


def _list_offsets(
    cluster: KafkaClients, partitions: Collection[Partition], spec: OffsetSpec, isolation: IsolationLevel
) -> dict[Partition, int]:
    offsets: dict[Partition, int] = {}
    deadline = time.monotonic() + _MOVE_SECONDS
    while missing := [partition for partition in partitions if partition not in offsets]:
        request = {TopicPartition(p.stream, p.index): spec for p in missing}
        answers = cluster.admin.list_offsets(
            request, isolation_level=isolation, request_timeout=ANSWER_SECONDS
        )
        for topic_partition, future in answers.items():
            partition = Partition(topic_partition.topic, topic_partition.partition)
            try:
                offsets[partition] = int(future.result(2 * ANSWER_SECONDS).offset)
            except KafkaException as error:
                if kafka_error(error).code() not in _MOVING or time.monotonic() > deadline:
                    raise cluster.failure(error, f"asking for the ends of {partition}") from None
        if len(offsets) < len(partitions):
            time.sleep(_PAUSE_SECONDS)
    return offsets
