"""What exactly once costs a batch on a real Kafka broker, beside at least once: its commit alone.

A lane writes 1,000 rows to eight partitions with a checkpoint, and with a changelog or without one. Each way
takes ten commits, then the other one, round after round: whatever else the machine does meets both alike.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

import pyarrow as pa

from bench.app_runs.redis_server import cpu_of
from bench.kafka.topics import PARTITIONS, broker_of_ones_own, create
from bench.row import Compared, Row
from streamapp_runtime.lanes.delivery_guarantee import DeliveryGuarantee
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import RECORDS, StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker import Broker

ROWS = 1_000
ROUNDS = 12
COMMITS = 10
WAYS = {
    "without state": (DeliveryGuarantee.EXACTLY_ONCE, DeliveryGuarantee.AT_LEAST_ONCE),
    "with a changelog": (DeliveryGuarantee.EXACTLY_ONCE, DeliveryGuarantee.STATE),
}
NAMES = {
    DeliveryGuarantee.EXACTLY_ONCE: "exactly once",
    DeliveryGuarantee.STATE: "at least once",
    DeliveryGuarantee.AT_LEAST_ONCE: "at least once",
}


@dataclass(slots=True)
class Cost:
    """What each round took, for a commit."""

    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    broker: list[float] = field(default_factory=list)

    def over(self, other: "Cost") -> Mapping[str, float]:
        """How much more than another way."""
        return {
            "the lane's CPU": sum(self.cpu) / sum(other.cpu),
            "the broker's CPU": sum(self.broker) / sum(other.broker),
            "the clock": median(a / b for a, b in zip(self.clock, other.clock, strict=True)),
        }


@dataclass(slots=True)
class Lane:
    """One writer with its checkpoints."""

    system: KafkaSystem
    delivery: DeliveryGuarantee
    state: bool
    name: str
    checkpoint: bytes | None = None

    def prepare(self) -> None:
        """Make its topics."""
        self.system.create(f"{self.name}.checkpoint", 1, StreamOptions(compacted=True))
        self.system.create(f"{self.name}.changelog", 1, StreamOptions(compacted=True))

    def commit(self, records: pa.RecordBatch) -> None:
        """As a lane does at the end of a batch."""
        owner, expected = f"{self.name}.checkpoint", {b"task": self.checkpoint}
        at_least_once = self.delivery is DeliveryGuarantee.AT_LEAST_ONCE
        transaction = self.system.begin(owner, 1, expected, "lane", at_least_once=at_least_once)
        send = (
            transaction.append
            if self.delivery is DeliveryGuarantee.EXACTLY_ONCE
            else transaction.append_uncommitted
        )
        for index in range(PARTITIONS):
            send(TopicPartition("out", index), records)
        if self.state:
            changelog = TopicPartition(f"{self.name}.changelog", 0)
            transaction.append(changelog, records)
            transaction.end_of(changelog)
        self.checkpoint = str(time.time_ns()).encode()
        transaction.put(owner, b"task", self.checkpoint)
        transaction.commit()


def rows() -> Iterator[Row]:
    """With state and without."""
    keys, values = [f"{n}".encode() for n in range(ROWS // PARTITIONS)], [b"x" * 100] * (ROWS // PARTITIONS)
    records = pa.record_batch([keys, values, pa.nulls(len(keys), pa.int64())], schema=RECORDS)
    with broker_of_ones_own() as (broker, _):
        create(broker.bootstrap, "out")
        for kind, ways in WAYS.items():
            once, least = _measured(broker, kind != "without state", ways, records)
            for way, cost in zip(ways, (once, least), strict=True):
                beside = f"{_each(cost.cpu):.1f} ms of CPU, {_each(cost.broker):.1f} ms of the broker's"
                compared = Compared("at least once", median(least.clock) * 1e3) if cost is once else None
                yield Row(f"{kind}, {NAMES[way]}", median(cost.clock) * 1e3, "ms", None, beside, compared)
            for what, ratio in once.over(least).items():
                yield Row(f"  exactly once over at least once, {what}", ratio, "x")


def _measured(
    broker: Broker, state: bool, ways: tuple[DeliveryGuarantee, ...], records: pa.RecordBatch
) -> tuple[Cost, ...]:
    costs = tuple(Cost() for _ in ways)
    lanes = [Lane(KafkaSystem(broker.bootstrap), way, state, f"{way}-{state}") for way in ways]
    for lane in lanes:
        lane.prepare()
        lane.commit(records)
    for _ in range(ROUNDS):
        for lane, cost in zip(lanes, costs, strict=True):
            clock, cpu, there = time.monotonic(), time.process_time(), cpu_of(broker.pid)
            for _ in range(COMMITS):
                lane.commit(records)
            cost.clock.append((time.monotonic() - clock) / COMMITS)
            cost.cpu.append((time.process_time() - cpu) / COMMITS)
            cost.broker.append((cpu_of(broker.pid) - there) / COMMITS)
    for lane in lanes:
        lane.system.close()
    return costs


def _each(seconds: list[float]) -> float:
    return sum(seconds) / len(seconds) * 1e3
