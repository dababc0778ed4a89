"""Records in and out of topics by plain clients, as others would write and read them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from streamapp_runtime.key_partitioning import partition_of
from tests.harness.machine.processes import until

ANY_PARTITION: Final = -1  # where the client's own partitioner puts it
Row = Mapping[str, Any]
_CREATE_ATTEMPTS: Final = 5


def create(address: str, partitions: Mapping[str, int], **config: str) -> None:
    """Make topics. A broker that is away for a moment, as under load, ends a client's request for good."""
    for name, count in partitions.items():
        for attempts_left in reversed(range(_CREATE_ATTEMPTS)):
            if _created(address, NewTopic(name, count, config=config), attempts_left):
                break


def _created(address: str, topic: NewTopic, attempts_left: int) -> bool:
    client = AdminClient({"bootstrap.servers": address, "log_level": 0})

    def known() -> bool:
        partitions = client.list_topics(topic.topic, 60).topics[topic.topic].partitions
        return len(partitions) == topic.num_partitions

    try:
        client.create_topics([topic])[topic.topic].result(60)
    except KafkaException as error:
        code = error.args[0].code()
        if code == KafkaError.TOPIC_ALREADY_EXISTS:  # by a request that the client sent twice
            until(known, 10)
        elif code != KafkaError._DESTROY_BROKER or not attempts_left:
            raise
        else:
            return False
    return True


def produce(
    address: str, topic: str, rows: Iterable[Row], key: str, *, among: int | None = None, **config: str
) -> None:
    """JSON records by their keys, as Java's producers place them; `among` is a count they still go by."""
    producer = Producer(
        {"bootstrap.servers": address, "partitioner": "murmur2_random", "log_level": 0, **config}
    )
    for row in rows:
        told = str(row[key]).encode()
        place = ANY_PARTITION if among is None else int(partition_of(pa.array([told], pa.binary()), among)[0])
        producer.produce(topic, json.dumps(row).encode(), told, place)
        producer.poll(0)
    assert producer.flush(60) == 0


def committed(address: str, topic: str) -> list[dict[str, Any]]:
    """All rows that a reader of committed records finds, partition by partition."""
    return [json.loads(message.value() or b"null") for message in committed_messages(address, topic)]


def committed_messages(address: str, topic: str) -> list[Message]:
    """The same as they lie there."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "tests",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    messages = []
    try:
        count = len(consumer.list_topics(topic, 60).topics[topic].partitions)
        for index in range(count):
            consumer.assign([TopicPartition(topic, index, 0)])
            ended = False
            while not ended:
                for message in consumer.consume(1_000, 0.1):
                    error = message.error()
                    if error is None:
                        messages.append(message)
                    else:
                        assert error.code() == KafkaError._PARTITION_EOF, error
                        ended = True
    finally:
        consumer.close()
    return messages
