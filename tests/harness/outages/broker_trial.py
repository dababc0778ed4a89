"""An app under load whose brokers get into trouble in turn: how long it stands, what it says, what it wrote.

A witness writes transactions and reads what is committed, as the app does, by librdkafka's clients. That
which it manages the brokers can do: the app is measured by it. One consumer reads the rows of both, so that
neither is seen sooner than the other.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.harness.kafka.clients import QUIET
from tests.harness.kafka.topic_records import create
from tests.harness.outages.broker_cluster import SIZE, BrokerCluster, BrokerFault
from tests.harness.runs.page_views_run import PARTITIONS, PageViews

APP: Final = "outages"
ROWS_PER_SECOND: Final = 300
_STEP_SECONDS: Final = 0.05
_WITNESS: Final = "witness"
_WITNESS_PARTITIONS: Final = 6
_WITNESS_PAUSE_SECONDS: Final = 0.05
PROMPT: Final = {
    "socket.timeout.ms": 1_500,
    "socket.connection.setup.timeout.ms": 1_000,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.ms": 20,
    "retry.backoff.max.ms": 200,
    "topic.metadata.refresh.fast.interval.ms": 50,
    "topic.metadata.refresh.interval.ms": 1_000,
    **QUIET,
}
"""Clients that notice soon what has become of a broker."""
FOREVER_MS: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class FaultFigures:
    """What one fault did."""

    fault: BrokerFault
    broker: int
    witness_gap: float  # seconds without a committed row of the witness
    app_gap: float  # the same of the app
    after_witness: float  # from the witness's first row after its gap to the app's after its own
    lines: tuple[str, ...]  # what the app said of it

    def __str__(self) -> str:
        gaps = f"witness stood {self.witness_gap:5.2f} s, app {self.app_gap:5.2f} s"
        return (
            f"broker {self.broker + 1} {self.fault:<8} {gaps}, {self.after_witness:+5.2f} s after it; "
            f"{len(self.lines)} lines"
        )


@dataclass(slots=True)
class BrokerTrial:
    """One app, its load and its witness on a cluster; everything ends with `run`."""

    cluster: BrokerCluster
    folder: Path
    options: tuple[str, ...] = ("--processors", "2", "--log-format", "json")
    app: PageViews = field(init=False)
    _arrivals: dict[str, list[float]] = field(default_factory=lambda: {APP: [], _WITNESS: []})
    _load_ended: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.app = PageViews(self.cluster.bootstrap, APP, self.folder, counted=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        """The app under load until the block ends; then what it has to write is waited for and compared."""
        self.app.prepare()
        create(self.cluster.bootstrap, {f"{APP}.enriched": PARTITIONS, _WITNESS: _WITNESS_PARTITIONS})
        threads = [threading.Thread(target=each) for each in (self._bear_witness, self._watch)]
        load = threading.Thread(target=self._load)
        try:
            for thread in (*threads, load):
                thread.start()
            self.app.start(*self.options)
            self.app.until(lambda: len(self._arrivals[APP]) > ROWS_PER_SECOND)
            yield
            self._load_ended.set()
            load.join()
            self.app.until(lambda: len(self._arrivals[APP]) >= len(self.app.expected()))
        finally:
            self._load_ended.set()
            self._ended.set()
            for thread in (*threads, load):
                if thread.ident is not None:
                    thread.join()
            self.app.kill()
        self.app.checked()

    def strike(self, fault: BrokerFault, index: int, seconds: float, settle: float) -> FaultFigures:
        """Have a broker in trouble for so long, and let so much pass afterwards; what came of it."""
        self.app.until(self._flows)
        begun, said = time.monotonic(), len(self._said())
        self.cluster.begin(fault, index)
        self._pass(seconds)
        self.cluster.end(fault, index)
        self._pass(settle)
        self.app.until(self._flows)
        end = time.monotonic()
        witness, app = (self._gap(topic, begun, end) for topic in (_WITNESS, APP))
        lines = tuple(self._said()[said:])
        return FaultFigures(
            fault, index, witness[1] - witness[0], app[1] - app[0], app[1] - witness[1], lines
        )

    def _flows(self) -> bool:
        """Whether rows came within the last half second, from both."""
        now = time.monotonic()
        return all(times and now - times[-1] < 0.5 for times in self._arrivals.values())

    def _gap(self, topic: str, begun: float, end: float) -> tuple[float, float]:
        """The longest time without rows."""
        times = [begun, *(at for at in list(self._arrivals[topic]) if begun <= at <= end)]
        return max(pairwise(times), key=lambda pair: pair[1] - pair[0])

    def _said(self) -> list[str]:
        """What the app said but for how it goes."""
        lines = [json.loads(line) for line in self.app.said().splitlines() if line.startswith("{")]
        return [json.dumps(line) for line in lines if line.get("event") not in {"progress", "idle"}]

    def _load(self) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self.cluster.bootstrap,
                "partitioner": "murmur2_random",
                "enable.idempotence": True,
                "message.timeout.ms": FOREVER_MS,
                **PROMPT,
            }
        )
        begun = time.monotonic()
        while not self._load_ended.is_set():
            due = int((time.monotonic() - begun) * ROWS_PER_SECOND)
            for row in self.app.views(self.app.written, max(due, self.app.written)):
                producer.produce(f"{APP}.views", json.dumps(row).encode(), row["session"].encode())
            self.app.written = max(due, self.app.written)
            producer.poll(0)
            self._load_ended.wait(_STEP_SECONDS)
        assert producer.flush(300) == 0

    def _bear_witness(self) -> None:
        """Write a record to each partition in one transaction, over and over."""
        producer: Producer | None = None
        while not self._ended.is_set():
            try:
                producer = producer or self._witness_producer()
                producer.begin_transaction()
                for partition in range(_WITNESS_PARTITIONS):
                    producer.produce(_WITNESS, b"here", partition=partition)
                producer.commit_transaction(5)
            except KafkaException:
                producer = self._after_failure(producer)
            self._ended.wait(_WITNESS_PAUSE_SECONDS)

    def _witness_producer(self) -> Producer:
        names = {"bootstrap.servers": self.cluster.bootstrap, "transactional.id": _WITNESS, "linger.ms": 0}
        producer = Producer({**names, **PROMPT, "transaction.timeout.ms": 10_000})
        producer.init_transactions(5)
        return producer

    @staticmethod
    def _after_failure(producer: Producer | None) -> Producer | None:
        """The same producer once its transaction is void; none where that fails."""
        if producer is not None:
            with suppress(KafkaException):
                producer.abort_transaction(2)
                return producer
        return None

    def _watch(self) -> None:
        """Note when committed rows of either are there to be read."""
        settings: dict[str, Any] = {
            "bootstrap.servers": self.cluster.bootstrap,
            "group.id": "watch",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 20,
            "fetch.error.backoff.ms": 20,
        }
        consumer = Consumer(settings | PROMPT)
        counts = {f"{APP}.enriched": PARTITIONS, _WITNESS: _WITNESS_PARTITIONS}
        consumer.assign(
            [TopicPartition(name, index, 0) for name, count in counts.items() for index in range(count)]
        )
        following: dict[tuple[str, int], int] = {}  # a client that finds an old leader may start again
        try:
            while not self._ended.is_set():
                messages = consumer.consume(10_000, 0.01)
                now = time.monotonic()
                for message in messages:
                    place = str(message.topic()), message.partition()
                    if message.error() is None and message.offset() >= following.get(place, 0):
                        following[place] = message.offset() + 1
                        self._arrivals[place[0].partition(".")[0]].append(now)
        finally:
            consumer.close()

    @staticmethod
    def _pass(seconds: float) -> None:
        threading.Event().wait(seconds)


def every_fault(
    trial: BrokerTrial,
    faults: tuple[BrokerFault, ...],
    seconds: float,
    settle: float,
    say: Callable[[str], None],
) -> list[FaultFigures]:
    """Each of the brokers in each trouble, one after the other."""
    figures = []
    for fault in faults:
        for index in range(SIZE):
            figures.append(trial.strike(fault, index, seconds, settle))
            say(str(figures[-1]))
    return figures
