"""Which topics may not be written: librdkafka says only that one of a transaction's topics may not."""

from collections.abc import Collection

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation

from streamapp_runtime.systems.kafka.rdkafka.kafka_clients import ANSWER_SECONDS, KafkaClients

_ENOUGH = frozenset({AclOperation.WRITE, AclOperation.ALL})


def unwritable_topics(cluster: KafkaClients, topics: Collection[str]) -> list[str]:
    """Those of these topics that this principal may not write; all of them where the cluster does not say."""
    collection = TopicCollection(sorted(topics))
    answers = cluster.admin.describe_topics(
        collection, include_authorized_operations=True, request_timeout=ANSWER_SECONDS
    )
    denied_topics = []
    for name, future in answers.items():
        try:
            operations = future.result(2 * ANSWER_SECONDS).authorized_operations or ()
        except KafkaException:
            operations = ()
        if _ENOUGH.isdisjoint(operations):
            denied_topics.append(name)
    return denied_topics or sorted(topics)
