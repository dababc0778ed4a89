"""Outages over three Kafka brokers: the longest time without committed output, beside Kafka Streams.

Both run the join of `kafka.latency` on one cluster at once, exactly once, with a commit every 100 ms, and
read the same views. One consumer reads the outputs of both, so that neither is seen sooner than the other.
The time is that of the partition that had none for longest, beside that of all partitions together, and of
the views: how long none of a partition was confirmed to who writes them. A coordinator is killed under load:
a transaction is open, or about to begin. Then the views that came out of both are compared with those that
were written.
"""

import json
import os
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN
from bench.app_runs.runs import REPOSITORY
from bench.command import COMMAND
from bench.kafka.others import streams_command
from bench.kafka.stamped import AT, TICK, USERS
from bench.kafka.topics import PARTITIONS, create, fill, on_kafka
from bench.row import Compared, Row
from tests.harness.machine.processes import until
from tests.harness.machine.thread_beside import thread_beside
from tests.harness.outages.broker_cluster import BrokerCluster, BrokerFault
from tests.harness.outages.broker_trial import FOREVER_MS, PROMPT

VIEWS, OURS, STREAMS = "views", "outages-streamapp", "outages-streams"
RATE = 300
COMMIT_MS = 100
SECONDS, SETTLE_SECONDS, PATIENCE_SECONDS = 8.0, 6.0, 120.0
FLOWING_SECONDS = 1.0
"""Every partition of both has had output within so long before a fault begins."""


def rows() -> Iterator[Row]:
    """Seconds of StreamApp, and beside them those of Kafka Streams."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        cluster = stack.enter_context(closing(BrokerCluster(folder)))
        cluster.start()
        _make_topics(cluster.bootstrap)
        views = Views(cluster.bootstrap)
        arrivals = stack.enter_context(Arrivals(cluster.bootstrap).following())
        for command in _commands(cluster.bootstrap, folder):
            stack.enter_context(_running(command))
        trial = Trial(cluster, arrivals, views)
        with views.coming():
            yield from _faults(trial, folder)
        until(lambda: arrivals.have_all(views.sent), PATIENCE_SECONDS)
        yield Row("views that came out of both once", float(views.sent), "views")


def _faults(trial: "Trial", folder: Path) -> Iterator[Row]:
    cluster, killed = trial.cluster, BrokerFault.KILLED
    yield from trial.row("a broker is shut down, its leaders move", BrokerFault.SHUT_DOWN, 0)
    yield from trial.row("a broker is killed", killed, 2)
    ours = cluster.coordinator(f"{_APPLICATION}.checkpoint.processor-0")
    yield from trial.row("StreamApp's coordinator is killed", killed, ours)
    theirs = cluster.coordinator(_streams_transactional_id(folder / STREAMS))
    yield from trial.row("Kafka Streams' coordinator is killed", killed, theirs)
    leader = cluster.leader(VIEWS)
    yield from trial.row("a broker is stopped for 20 s", BrokerFault.FROZEN, leader, seconds=20.0)


_APPLICATION = "bench.measured"


def _make_topics(brokers: str) -> None:
    fill(brokers, {"users": page_views.users(USERS), VIEWS: iter(())})
    create(brokers, OURS, STREAMS)


def _commands(brokers: str, folder: Path) -> Iterator[Sequence[str]]:
    """What starts StreamApp, and then Kafka Streams."""
    spec = on_kafka(JOIN, brokers).replace("name: enriched,", f"name: enriched, topic: {OURS},")
    settings = f"  batch: {{latency: {COMMIT_MS}ms}}\n  systems:"
    app = folder / "app.yaml"
    app.write_text(spec.replace("  systems:", settings, 1))
    yield [str(COMMAND), "run", str(app), "--data", str(folder / "data"), "--quiet"]
    given = (brokers, STREAMS, "exactly_once_v2", 1 << 60, folder / STREAMS)
    yield streams_command(*given, idle_ms=0, commit_ms=COMMIT_MS)


@contextmanager
def _running(command: Sequence[str]) -> Iterator[None]:
    roots = [str(REPOSITORY), *(str(Path(REPOSITORY, name)) for name in ("runtime", "operator"))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(roots)}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as process:  # noqa: S603 - our own
        try:
            yield
        finally:
            process.terminate()


def _streams_transactional_id(state: Path) -> str:
    """The transactional id of its first thread."""
    (file,) = state.rglob("kafka-streams-process-metadata")
    return f"{STREAMS}-{json.loads(file.read_text('utf-8'))['processId']}-1"


@dataclass(slots=True)
class Views:
    """Views that come evenly, each with its number, and when brokers confirmed them."""

    brokers: str
    sent: int = 0
    confirmed: dict[int, list[float]] = field(
        default_factory=lambda: {index: [] for index in range(PARTITIONS)}
    )
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def coming(self) -> Iterator[None]:
        """Have them come until the block ends."""
        with thread_beside(self._produce, self._ended):
            yield

    def _produce(self) -> None:
        settings = {"enable.idempotence": True, "message.timeout.ms": FOREVER_MS, **PROMPT}
        producer = Producer({"bootstrap.servers": self.brokers, "partitioner": "murmur2_random", **settings})
        begun = time.monotonic()
        while not self._ended.wait(TICK):
            while self.sent < (time.monotonic() - begun) * RATE:
                user = f"user-{self.sent * 7_919 % USERS:07d}"
                value = f'{{"user":"{user}","page":"/{self.sent}","ts":"{AT}"}}'
                producer.produce(VIEWS, value.encode(), user.encode(), on_delivery=self._note)
                self.sent += 1
            producer.poll(0)
        producer.flush(PATIENCE_SECONDS)

    def _note(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.confirmed[int(message.partition() or 0)].append(time.monotonic())


@dataclass(slots=True)
class Arrivals:
    """When committed rows came, by output topic and partition, and how often each view did."""

    brokers: str
    times: dict[str, dict[int, list[float]]] = field(
        default_factory=lambda: {out: {index: [] for index in range(PARTITIONS)} for out in (OURS, STREAMS)}
    )
    views: dict[str, Counter[str]] = field(default_factory=lambda: {OURS: Counter(), STREAMS: Counter()})
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def following(self) -> Iterator["Arrivals"]:
        """Note them until the block ends."""
        with thread_beside(self._follow, self._ended):
            yield self

    def flow(self) -> bool:
        """Whether rows come in each partition of both."""
        oldest = time.monotonic() - FLOWING_SECONDS
        return all(times and times[-1] > oldest for parts in self.times.values() for times in parts.values())

    def have_all(self, count: int) -> bool:
        """Whether each of so many views came out of both; AssertionError where one did twice."""
        for out, views in self.views.items():
            if twice := sum(number > 1 for number in list(views.values())):
                raise AssertionError(f"{twice:,} views came to {out} more than once")
        return all(len(views) == count for views in self.views.values())

    def _follow(self) -> None:
        settings = {"group.id": "bench", "isolation.level": "read_committed", "enable.auto.commit": False}
        fast = {"fetch.wait.max.ms": 20, "fetch.error.backoff.ms": 20, **PROMPT}
        with closing(Consumer({"bootstrap.servers": self.brokers, **settings, **fast})) as consumer:
            consumer.assign(
                [TopicPartition(out, index, 0) for out, parts in self.times.items() for index in parts]
            )
            following: dict[tuple[str, int], int] = {}  # a client that finds an old leader may start again
            while not self._ended.is_set():
                for message in consumer.consume(10_000, 0.01):
                    place = str(message.topic()), int(message.partition() or 0)
                    offset = message.offset()
                    if message.error() is None and offset is not None and offset >= following.get(place, 0):
                        following[place] = offset + 1
                        self.times[place[0]][place[1]].append(time.monotonic())
                        self.views[place[0]][json.loads(message.value() or b"")["page"]] += 1


@dataclass(frozen=True, slots=True)
class Trial:
    """A cluster in trouble, and what came out meanwhile."""

    cluster: BrokerCluster
    arrivals: Arrivals
    views: Views

    def row(self, name: str, fault: BrokerFault, index: int, *, seconds: float = SECONDS) -> Iterator[Row]:
        """A broker in trouble for so long."""
        until(self.arrivals.flow, PATIENCE_SECONDS)
        begun = time.monotonic()
        self.cluster.begin(fault, index)
        time.sleep(seconds)
        self.cluster.end(fault, index)
        yield from self._row(name, begun)

    def _row(self, name: str, begun: float) -> Iterator[Row]:
        time.sleep(SETTLE_SECONDS)
        until(self.arrivals.flow, PATIENCE_SECONDS)
        end, times = time.monotonic(), self.arrivals.times
        ours, theirs = (_longest(times[out], begun, end) for out in (OURS, STREAMS))
        together = [
            _longest({0: sorted(at for part in times[out].values() for at in list(part))}, begun, end)
            for out in (OURS, STREAMS)
        ]
        beside = (
            f"all partitions together {together[0]:.1f} and {together[1]:.1f} s, "
            f"views {_longest(self.views.confirmed, begun, end):.1f} s"
        )
        yield Row(name, ours, "s", beside=beside, compared=Compared("Kafka Streams", theirs))


def _longest(times: Mapping[int, Sequence[float]], begun: float, end: float) -> float:
    """The longest time in which nothing came to a partition."""
    return max(
        later - earlier
        for part in times.values()
        for earlier, later in pairwise([begun, *(at for at in list(part) if begun < at < end), end])
    )
