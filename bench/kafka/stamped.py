"""Views that carry the moment at which they were produced, and how old they are when they come out."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from threading import Event

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from bench.app_runs.page_views import BEGINNING
from bench.kafka.topics import PARTITIONS
from tests.harness.machine.thread_beside import thread_beside

USERS = 1_000
AT = datetime.fromtimestamp(BEGINNING / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
TICK = 0.005
"""Seconds between two bundles of views."""
LEADER_SECONDS = 30.0
"""So long a new topic may be without leaders."""


class Watch:
    """Follows an output topic: when each view was produced, and how many milliseconds later it was seen."""

    def __init__(self, brokers: str, topic: str) -> None:
        self.seen: list[tuple[int, float]] = []
        self._ended = Event()
        settings = {"group.id": "bench", "enable.auto.commit": False, "isolation.level": "read_committed"}
        self._consumer = Consumer({"bootstrap.servers": brokers, **settings})
        self._topic = topic

    @contextmanager
    def following(self) -> Iterator["Watch"]:
        """From the end that the topic has now."""
        with closing(self._consumer):
            self._consumer.assign(self._ends())
            with thread_beside(self._follow, self._ended):
                yield self

    def since(self, start: int) -> list[float]:
        """Milliseconds from production to sight, of what was produced from then on."""
        return [age for produced, age in list(self.seen) if produced >= start]

    def _ends(self) -> list[TopicPartition]:
        """Where the partitions end; those of a topic that was just made have no leader yet."""
        places = [TopicPartition(self._topic, index) for index in range(PARTITIONS)]
        until = time.monotonic() + LEADER_SECONDS
        while True:
            try:
                ends = [self._consumer.get_watermark_offsets(place)[1] for place in places]
            except KafkaException:
                if time.monotonic() > until:
                    raise
                time.sleep(TICK)
            else:
                return [TopicPartition(self._topic, index, end) for index, end in enumerate(ends)]

    def _follow(self) -> None:
        while not self._ended.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and message.error() is None:
                now = time.time_ns()
                produced = _stamp(message.value() or b"")
                self.seen.append((produced, (now - produced) / 1e6))


def produce(brokers: str, rate: int, seconds: float) -> int:
    """So many views a second, evenly, for so long; gives how many the broker took."""
    producer = Producer({"bootstrap.servers": brokers, "partitioner": "murmur2_random"})
    started, sent = time.monotonic(), 0
    while (passed := time.monotonic() - started) < seconds:
        while sent < passed * rate:
            user = f"user-{sent * 7_919 % USERS:07d}"
            stamp = time.time_ns()
            value = f'{{"user":"{user}","page":"/at/{stamp}","ts":"{AT}"}}'
            try:
                producer.produce("views", value.encode(), user.encode())
            except BufferError:  # the broker is behind, which the ages will tell
                break
            sent += 1
        producer.poll(0)
        time.sleep(TICK)
    producer.flush()
    return sent


def _stamp(value: bytes) -> int:
    """The moment that a view's page tells."""
    return int(value.partition(b"/at/")[2].partition(b'"')[0])
