"""An app over two Kafka clusters and a log that get into trouble under load, as the app does itself.

Numbers are written into each system. Each has to be once in an output of each system, and be counted once.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from streamapp_runtime.crash_points import VARIABLE
from streamapp_runtime.systems.connection import EmbeddedConnection, KafkaConnection, open_system
from streamapp_runtime.systems.stream_system import StreamSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import batch, write
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.jars import TO_BE_KILLED
from tests.harness.machine.app_processes import kill, victims
from tests.harness.machine.processes import until
from tests.harness.machine.thread_beside import thread_beside
from tests.harness.runs.run_process import COMMAND

HOME, SHOP, LOG = "main", "shop", "log"
PARTITIONS, GROUPS = 2, 5
PAUSE_SECONDS, FAULT_SECONDS, PATIENCE_SECONDS = 0.05, 5.0, 180.0
POINTS: Final = ("delivery.before", "delivery.after")


def _resource(brokers: dict[str, Broker], log: Path) -> dict[str, Any]:
    systems: list[dict[str, Any]] = [
        {"name": name, "kafka": {"bootstrapServers": broker.bootstrap}} for name, broker in brokers.items()
    ]
    names = [HOME, SHOP, LOG]
    inputs = [{"name": f"in-{name}", "system": name, "columns": "n INT, g INT"} for name in names]
    outputs = [{"name": f"out-{name}", "system": name} for name in names]
    send = [{"name": f"to-{name}", "sendTo": {"from": "all", "stream": f"out-{name}"}} for name in names]
    operators = [
        {"name": "all", "merge": {"from": [stream["name"] for stream in inputs]}},
        {"name": "by-group", "partitionBy": {"from": "all", "key": "g"}},
        {"name": "counted", "aggregate": {"from": "by-group", "key": "g", "aggregates": "count(*) AS c"}},
        {"name": "to-counts", "sendTo": {"from": "counted", "stream": "counts"}},
    ]
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "numbers"},
        "spec": {
            "systems": [*systems, {"name": LOG, "embedded": {"path": str(log)}}],
            "streams": [*inputs, *outputs, {"name": "counts", "system": SHOP}],
            "operators": [*operators, *send],
        },
    }


@dataclass(slots=True)
class Siege:
    """The app, its three systems, and what is written into them."""

    folder: Path
    brokers: dict[str, Broker]
    systems: dict[str, StreamSystem]
    writers: dict[str, StreamSystem]  # the same, for the thread that writes
    process: subprocess.Popen[bytes] | None = None
    written: int = 0
    _locks: dict[str, threading.Lock] = field(
        default_factory=lambda: {n: threading.Lock() for n in (HOME, SHOP, LOG)}
    )
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def points(self) -> Path:
        """The crash points of the app, and its processes."""
        return self.folder / "points"

    def start_app(self) -> None:
        command: list[str | Path] = [COMMAND, "run", self.folder / "app.yaml"]
        command += ["--data", self.folder / "data", "--processors", "2", "--log-format", "json"]
        with (self.folder / "app.log").open("ab") as log:
            environment = os.environ | {VARIABLE: str(self.points)}
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def kill_app(self) -> None:
        for pids in victims(self.points).values():
            for pid in pids:
                kill(pid)
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def crash_app(self, point: str) -> None:
        """Have the driver die around a delivery, and start it again."""
        (self.points / point).touch()
        assert self.process is not None
        self.process.wait(PATIENCE_SECONDS)
        self.restart_app()

    def restart_app(self) -> None:
        self.kill_app()
        self.start_app()

    def outage(self, name: str) -> None:
        self._trouble(name, self.brokers[name].kill, self.brokers[name].start)

    def freeze(self, name: str) -> None:
        self._trouble(name, self.brokers[name].freeze, self.brokers[name].thaw)

    def _trouble(self, name: str, begin: Callable[[], None], end: Callable[[], None]) -> None:
        """A system in trouble; nobody could say of what is written into it meanwhile whether it is there."""
        with self._locks[name]:
            begin()
            time.sleep(FAULT_SECONDS)
            end()

    def load(self) -> None:
        while not self._ended.wait(PAUSE_SECONDS):
            for name, lock in self._locks.items():
                if lock.acquire(blocking=False):
                    try:
                        self._write(name)
                    finally:
                        lock.release()

    def _write(self, name: str) -> None:
        number = self.written
        value = json.dumps({"n": number, "g": number % GROUPS}).encode()
        partition = TopicPartition(f"in-{name}", number % PARTITIONS)
        write(self.writers[name], partition, batch([(None, value, 0)]), owner="writer")
        self.written += 1

    @contextmanager
    def loaded(self) -> Iterator[None]:
        with thread_beside(self.load, self._ended):
            yield

    def rows(self, name: str, stream: str) -> list[dict[str, int]]:
        system = self.systems[name]
        partitions = [TopicPartition(stream, index) for index in range(system.partitions(stream) or 0)]
        return [
            json.loads(value)
            for partition, span in system.spans(partitions).items()
            for records in system.read(partition, span.oldest, span.end)
            for value in records.column("value").to_pylist()
        ]

    def counts(self) -> dict[int, int]:
        """The newest count of each group."""
        return {row["g"]: row["c"] for row in self.rows(SHOP, "counts")}

    def is_written(self, name: str, number: int) -> bool:
        """True once an output has as many rows as there were numbers by then."""
        return len(self.rows(name, f"out-{name}")) >= number

    def catch_up(self) -> None:
        """Return once each output has what was written until now."""
        number, ends = self.written, time.monotonic() + PATIENCE_SECONDS
        while behind := [name for name in self.systems if not self.is_written(name, number)]:
            if time.monotonic() > ends:
                said = (self.folder / "app.log").read_text(errors="replace")[-6000:]
                raise AssertionError(f"{number} numbers are not in {', '.join(behind)}:\n{said}")
            time.sleep(0.2)


@pytest.fixture
def siege(kafka_jars: Path, tmp_path: Path) -> Iterator[Siege]:
    with ExitStack() as opened:
        brokers = {name: Broker(tmp_path / name, release=TO_BE_KILLED) for name in (HOME, SHOP)}
        for broker in brokers.values():
            broker.start()
            opened.callback(broker.kill)
        (tmp_path / "log").mkdir()
        connections: dict[str, Any] = {n: KafkaConnection(broker.bootstrap) for n, broker in brokers.items()}
        connections[LOG] = EmbeddedConnection(str(tmp_path / "log"))
        systems, writers = (
            {name: opened.enter_context(closing(open_system(each))) for name, each in connections.items()}
            for _ in range(2)
        )
        for name, system in systems.items():
            system.create(f"in-{name}", PARTITIONS)
        (tmp_path / "app.yaml").write_text(yaml.safe_dump(_resource(brokers, tmp_path / "log")))
        (tmp_path / "points").mkdir()
        siege = Siege(tmp_path, brokers, systems, writers)
        siege.start_app()
        opened.callback(siege.kill_app)
        yield siege


@pytest.mark.nightly
@pytest.mark.timeout(4 * PATIENCE_SECONDS)
def test_each_number_is_once_in_each_system_whatever_gets_into_trouble(siege: Siege) -> None:
    faults: dict[str, Callable[[], None]] = {
        "the shop is killed": lambda: siege.outage(SHOP),
        "the driver dies before a delivery": lambda: siege.crash_app(POINTS[0]),
        "the home is killed": lambda: siege.outage(HOME),
        "the shop hangs": lambda: siege.freeze(SHOP),
        "the app is killed": siege.restart_app,
        "the driver dies behind a delivery": lambda: siege.crash_app(POINTS[1]),
        "the home hangs": lambda: siege.freeze(HOME),
    }
    with siege.loaded():
        until(lambda: siege.written > GROUPS, PATIENCE_SECONDS)
        siege.catch_up()
        for name, strike in faults.items():
            began, written = time.monotonic(), siege.written
            strike()
            siege.catch_up()
            taken, numbers = time.monotonic() - began, siege.written - written
            sys.stdout.write(f"{name}: {taken:.1f} s, {numbers} numbers\n")
    siege.catch_up()
    for name in siege.systems:
        assert sorted(row["n"] for row in siege.rows(name, f"out-{name}")) == list(range(siege.written)), name
    until(lambda: sum(siege.counts().values()) >= siege.written, PATIENCE_SECONDS)
    assert siege.counts() == {group: len(range(group, siege.written, GROUPS)) for group in range(GROUPS)}
