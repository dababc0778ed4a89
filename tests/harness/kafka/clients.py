"""librdkafka's own clients, as an independent witness of what is on a broker."""

import uuid
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.machine.processes import until

Row = tuple[int, bytes | None, bytes | None, int | None]

QUIET = {"log_level": 0, "enable.metrics.push": False}


def created(bootstrap: str, partitions: int = 1, **config: str) -> str:
    """A new topic with a name of its own."""
    name = f"topic-{uuid.uuid4()}"
    admin = AdminClient({"bootstrap.servers": bootstrap, **QUIET})
    settings = {key.replace("_", "."): value for key, value in config.items()}
    topic = NewTopic(name, partitions, 1, config=settings)
    admin.create_topics([topic])[name].result(30)
    until(lambda: _is_known(admin, name, partitions), limit=30)
    return name


def _is_known(admin: AdminClient, name: str, partitions: int) -> bool:
    """Whether brokers tell clients of each partition: a loaded one does so a while after a topic was made."""
    topic = admin.list_topics(timeout=30).topics.get(name)
    return topic is not None and len(topic.partitions) == partitions


def producer(bootstrap: str, **settings: Any) -> Producer:
    names = {key.replace("_", "."): value for key, value in settings.items()}
    in_order = {"enable.idempotence": True}  # also where a broker does not answer at once
    return Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, **in_order, **QUIET, **names})


def consumed(bootstrap: str, topic: str, start: int, end: int, partition: int = 0) -> list[Row]:
    """The committed records of a range."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "witness",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "check.crcs": True,
            "fetch.wait.max.ms": 10,  # the end of a partition is told by an answer without records
            **QUIET,
        }
    )
    consumer.assign([TopicPartition(topic, partition, start)])
    found: list[Row] = []
    try:
        while True:
            message = consumer.poll(60)
            assert message is not None, f"nothing came for a minute: {open_transactions(bootstrap)}"
            if message.error():  # the end of the partition, or of what was committed until then
                if message.offset() >= end:
                    return found
                continue
            if message.offset() >= end:
                return found
            kind, time = message.timestamp()
            found.append((message.offset(), message.key(), message.value(), time if kind else None))
    finally:
        consumer.close()


def end_of(bootstrap: str, topic: str, partition: int = 0, isolation_level: str = "read_uncommitted") -> int:
    """The end of a partition: of all that is there, or of what is before the first open transaction."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "witness", "isolation.level": isolation_level, **QUIET}
    )
    try:
        return consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)[1]
    finally:
        consumer.close()


def open_transactions(bootstrap: str) -> str:
    """The partitions that a transaction holds open, with what can be read and what is there."""
    topics = AdminClient({"bootstrap.servers": bootstrap, **QUIET}).list_topics(timeout=30).topics
    found = []
    for name, topic in topics.items():
        for index in topic.partitions:
            committed = end_of(bootstrap, name, index, "read_committed")
            everything = end_of(bootstrap, name, index)
            if committed < everything:
                found.append(f"{name}#{index} is readable up to {committed} of {everything}")
    return "; ".join(found) or "no transaction is open"
