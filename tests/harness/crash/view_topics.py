"""The streams of the besieged app on a broker, by plain clients: what they see is what others see."""

from collections.abc import Iterable

from confluent_kafka import IsolationLevel, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from tests.harness.crash.view_streams import INPUTS, PARTITIONS, StreamRecord
from tests.harness.kafka.clients import QUIET
from tests.harness.kafka.topic_records import ANY_PARTITION, committed_messages, create

FOR_EVER = 2**31 - 1


class TopicStreams:
    """The topics of one broker, which may go and come back while they are written."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.admin = AdminClient({"bootstrap.servers": address, **QUIET})
        # It numbers what it sends, and sends it until it is confirmed: each row is there once.
        self.producer = Producer(
            {
                "bootstrap.servers": address,
                "partitioner": "murmur2_random",
                "enable.idempotence": True,
                "message.timeout.ms": FOR_EVER,
                **QUIET,
            }
        )

    def create(self) -> None:
        create(self.address, dict.fromkeys(INPUTS, PARTITIONS))

    def write(self, stream: str, records: Iterable[StreamRecord]) -> None:
        """Written in time, also by a broker that is away now."""
        for record in records:
            partition = ANY_PARTITION if record.partition is None else record.partition
            self.producer.produce(stream, record.value, record.key, partition)
        self.producer.poll(0)

    def records(self, stream: str) -> list[StreamRecord]:
        return [
            StreamRecord(message.key(), message.value(), message.partition(), message.offset())
            for message in committed_messages(self.address, stream)
        ]

    def size(self, stream: str) -> int:
        """What a reader of committed records has passed at its end, markers and all."""
        try:
            topic = self.admin.list_topics(stream, timeout=60).topics[stream]
            places = [TopicPartition(stream, index) for index in topic.partitions]
            ends = self.admin.list_offsets(
                dict.fromkeys(places, OffsetSpec.latest()), isolation_level=IsolationLevel.READ_COMMITTED
            )
            return sum(end.result(60).offset for end in ends.values())
        except KafkaException:
            return 0  # not there yet, or away

    def close(self) -> None:
        assert self.producer.flush(120) == 0
