"""Topics of a broker that tests share."""

from collections.abc import Collection

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient


def remove(address: str, names: Collection[str]) -> None:
    """Delete the topics of these names that there are, and wait until they are gone."""
    client = AdminClient({"bootstrap.servers": address, "log_level": 0})
    for deleted in client.delete_topics(list(names), operation_timeout=30).values():
        try:
            deleted.result(60)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
    while client.list_topics(timeout=30).topics.keys() & set(names):
        pass
