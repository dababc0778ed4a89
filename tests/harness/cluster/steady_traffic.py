"""Views at a steady rate, and when what follows from them was committed: the gaps that a fault makes."""

import json
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import TracebackType
from typing import Any, Final, Self

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.harness.cluster.app_traffic import BROKER, topics_anew
from tests.harness.cluster.waiting import until
from tests.harness.crash.view_feeder import USERS, known_users
from tests.harness.crash.view_model import differences, model
from tests.harness.kafka.topic_records import committed, produce

TICK_SECONDS: Final = 0.02
_PAGES: Final = ("/health", "/a", "/b")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A row of the output, as it became visible to a reader of committed records."""

    at: float  # as time.monotonic says
    partition: int
    number: int  # of the view that it follows from


@dataclass(frozen=True, slots=True)
class Gap:
    """For how long no row was committed between two moments."""

    app: float  # no row at all
    partition: float  # no row of the partition that was worst off
    others: float  # no row of the partition that was best off


@dataclass(slots=True)
class SteadyTraffic:
    """Writes views from one thread and reads enriched rows from another, until its block ends."""

    test: str
    rate: int = 1_000  # views a second
    partitions: int = 4
    views: list[dict[str, Any]] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)
    _errors: list[BaseException] = field(default_factory=list)

    def topic(self, stream: str) -> str:
        """A stream's topic."""
        return f"{self.test}.{stream}"

    def begin(self) -> None:
        """Make the topics, with all users in them and no view."""
        topics_anew(self.test, dict.fromkeys(("views", "users", "enriched", "totals"), self.partitions))
        produce(BROKER, self.topic("users"), known_users(), "user")

    def __enter__(self) -> Self:
        for work in (self._write, self._read):
            thread = threading.Thread(target=self._guarded, args=(work,), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Write no more views, and read no more rows."""
        self._ended.set()
        for thread in self._threads:
            thread.join(90)
        if self._errors:
            raise self._errors[0]

    def caught_up(self, limit: float) -> None:
        """Wait until every partition has given a row of a view that was written after this call."""
        written = len(self.views)
        until(lambda: self._behind(written), limit)

    def gap(self, since: float, to: float) -> Gap:
        """The longest times without a row between two moments."""
        by_partition: Mapping[int, list[float]] = {index: [since] for index in range(self.partitions)}
        every = [since]
        for arrival in self.arrivals:
            if since <= arrival.at <= to:
                by_partition[arrival.partition].append(arrival.at)
                every.append(arrival.at)
        gaps = [_longest([*times, to]) for times in by_partition.values()]
        return Gap(_longest([*every, to]), max(gaps), min(gaps))

    def wrong(self) -> list[str]:
        """Everything in which the outputs are not what they have to be."""
        rows = (committed(BROKER, self.topic(stream)) for stream in ("enriched", "totals"))
        return list(differences(model(known_users(), self.views), *rows))[:20]

    def disordered(self) -> list[str]:
        """The users whose rows were written in another order than their views."""
        newest: dict[str, int] = {}
        users: set[str] = set()
        for row in committed(BROKER, self.topic("enriched")):
            if row["n"] < newest.get(row["user"], -1):
                users.add(row["user"])
            newest[row["user"]] = row["n"]
        return sorted(users)

    def _behind(self, written: int) -> list[str]:
        """The partitions without a row of a later view than the one of this number."""
        newest = dict.fromkeys(range(self.partitions), -1)
        for arrival in reversed(self.arrivals):
            newest[arrival.partition] = max(newest[arrival.partition], arrival.number)
            if min(newest.values()) >= written:
                return []
            if arrival.number < written - 30 * self.rate:
                break
        return [
            f"{index} is at {number} of {written}" for index, number in newest.items() if number < written
        ]

    def _guarded(self, work: Any) -> None:
        try:
            work()
        except BaseException as error:  # shown by the test, which would wait in vain otherwise
            self._errors.append(error)

    def _write(self) -> None:
        chance = random.Random(1)  # noqa: S311
        producer = Producer(
            {
                "bootstrap.servers": BROKER,
                "partitioner": "murmur2_random",
                "enable.idempotence": True,
                "linger.ms": 5,
                "queue.buffering.max.messages": 2_000_000,
                "message.timeout.ms": 600_000,
                "topic.metadata.refresh.interval.ms": 1_000,  # well within the app's `partitionSettle`
                "log_level": 0,
            }
        )
        begun = time.monotonic()
        while not self._ended.wait(TICK_SECONDS):
            due = int((time.monotonic() - begun) * self.rate)
            for number in range(len(self.views), due):
                user = f"user-{chance.randrange(USERS)}"
                view = {"user": user, "page": chance.choice(_PAGES), "n": number}
                producer.produce(self.topic("views"), json.dumps(view).encode(), user.encode())
                self.views.append(view)
            producer.poll(0)
        assert producer.flush(90) == 0

    def _read(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": BROKER,
                "group.id": "gaps",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 50,
                "log_level": 0,
            }
        )
        topic = self.topic("enriched")
        consumer.assign([TopicPartition(topic, index, 0) for index in range(self.partitions)])
        try:
            while not self._ended.is_set():
                messages = consumer.consume(1_000, 0.05)
                now = time.monotonic()
                for message in messages:
                    if message.error() is None:
                        number = json.loads(message.value() or b"{}")["n"]
                        self.arrivals.append(Arrival(now, message.partition() or 0, number))
                    elif message.error().fatal():
                        raise KafkaException(message.error())
        finally:
            consumer.close()


def _longest(times: list[float]) -> float:
    return max(after - before for before, after in pairwise(times))
