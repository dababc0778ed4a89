"""Where partitions begin and end."""

from collections.abc import Collection, Mapping

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import OffsetSpec

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.cluster import ANSWER_SECONDS, Cluster


def oldest(cluster: Cluster, partitions: Collection[Partition]) -> Mapping[Partition, int]:
    """The first offset that each partition still has."""
    return _asked(cluster, partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)


def stable_ends(cluster: Cluster, partitions: Collection[Partition]) -> Mapping[Partition, int]:
    """The offset of each partition before which every transaction has ended."""
    return _asked(cluster, partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)


def high_watermarks(cluster: Cluster, partitions: Collection[Partition]) -> Mapping[Partition, int]:
    """The end of each partition, open transactions and all."""
    return _asked(cluster, partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)


def _asked(
    cluster: Cluster, partitions: Collection[Partition], spec: OffsetSpec, isolation: IsolationLevel
) -> dict[Partition, int]:
    asked = {TopicPartition(p.stream, p.index): spec for p in partitions}
    if not asked:
        return {}
    answers = cluster.admin.list_offsets(asked, isolation_level=isolation, request_timeout=ANSWER_SECONDS)
    found = {}
    for place, future in answers.items():
        partition = Partition(place.topic, place.partition)
        found[partition] = int(cluster.answer(future, f"asking for the ends of {partition}").offset)
    return found
