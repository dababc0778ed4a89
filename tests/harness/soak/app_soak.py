"""An app with joins, windows and tables over a broker, for as long as one likes: does anything grow?"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from signal import SIGTERM
from typing import Any, Final

import yaml

from streamapp_runtime.crash_points import VARIABLE
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.topic_records import create, produce
from tests.harness.machine.app_processes import kill, victims
from tests.harness.machine.processes import free_port, get
from tests.harness.machine.thread_beside import thread_beside
from tests.harness.soak.process_samples import process_samples
from tests.harness.soak.slopes import Sample, Slope, slope
from tests.harness.soak.soak_outputs import OUTPUTS, SoakOutputs
from tests.harness.soak.soak_rows import SoakRows, users

ROOT = Path(__file__).parents[3]
APP = Path(__file__).with_name("app.yaml")
PARTITIONS = 4
PATIENCE_SECONDS = 300.0
SAMPLE_SECONDS: Final = 5.0
MOST_WARM_SECONDS: Final = 300.0
"""Heaps, caches and stores fill at first: what is sampled before is no growth. A fourth of a short soak."""
LATE_MS = 4_000
"""By how much a window has to have ended to be out: the delay of its stream, and what comes in its second."""
_INPUTS = ("views", "clicks", "users")
_INPUT_SETTINGS = {"retention.ms": "900000", "segment.bytes": str(16 * 2**20)}
_BROKER_SETTINGS = {"log.cleaner.delete.retention.ms": "300000"}
"""Tombstones stay for a day elsewhere, and a changelog of keys that never come again grows for as long."""


@dataclass(frozen=True, slots=True)
class SoakBound:
    """How much a figure may grow in an hour."""

    unit: str
    per_hour: float


BOUNDS: Final[Mapping[str, SoakBound]] = {
    "resident": SoakBound("MiB", 25.0),
    "proportional": SoakBound("MiB", 25.0),
    "threads": SoakBound("", 3.0),
    "files": SoakBound("", 6.0),
    "latency p50": SoakBound("ms", 50.0),
    "latency p99": SoakBound("ms", 500.0),
    "entries": SoakBound("", 2_000.0),
    "store": SoakBound("MiB", 30.0),
    "log": SoakBound("MiB", 60.0),
}
"""By figure. Heaps of Java fill up to their limit, which is no leak: see JVM_BOUNDS."""
JVM_KINDS: Final = frozenset({"jvm", "executor", "broker"})
JVM_BOUNDS: Final[Mapping[str, SoakBound]] = {
    "resident": SoakBound("MiB", 150.0),
    "proportional": SoakBound("MiB", 150.0),
    "files": SoakBound("", 20.0),
}


@dataclass(frozen=True, slots=True)
class SoakFigure:
    """One figure of one kind of process, store or log over the soak."""

    kind: str
    name: str
    bound: SoakBound
    slope: Slope

    @property
    def grows(self) -> bool:
        return self.slope.exceeds(self.bound.per_hour)

    def facts(self) -> dict[str, Any]:
        return {
            "of": self.kind,
            "figure": self.name,
            "unit": self.bound.unit,
            "mean": round(self.slope.mean, 2),
            "last": round(self.slope.last, 2),
            "slopePerHour": round(self.slope.per_hour, 2),
            "standardError": round(self.slope.error, 2) if self.slope.error != float("inf") else None,
            "boundPerHour": self.bound.per_hour,
            "grows": self.grows,
        }

    def __str__(self) -> str:
        unit = f" {self.bound.unit}" if self.bound.unit else ""
        verdict = "GROWS" if self.grows else ""
        return (
            f"{self.kind:<22} {self.name:<13} {self.slope.mean:>10,.1f} {self.slope.last:>10,.1f}{unit:<4} "
            f"{self.slope.per_hour:>+10,.1f} ± {self.slope.error:>8,.1f}   <= {self.bound.per_hour:>7,.0f} "
            f"{verdict}"
        )


HEADING: Final = (
    f"{'of':<22} {'figure':<13} {'mean':>10} {'last':>10}     {'per hour':>10}   {'std. err.':>8}   bound"
)


@dataclass(slots=True)
class SoakResult:
    """What came of a soak."""

    rows: int
    seconds: float
    losses: int
    figures: list[SoakFigure]
    differences: list[str]

    @property
    def passed(self) -> bool:
        return not self.differences and not any(figure.grows for figure in self.figures)

    def facts(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "seconds": round(self.seconds),
            "losses": self.losses,
            "differences": self.differences,
            "figures": [figure.facts() for figure in self.figures],
        }


@dataclass(slots=True)
class AppSoak:
    """One soak in a folder; all that it starts ends with `run`, however that ends."""

    folder: Path
    say: Callable[[str], None]
    rate: int = 1_500
    losses: int = 0  # how many executors are killed, evenly over the time
    _samples: dict[tuple[str, str], list[Sample]] = field(default_factory=dict)  # by kind and figure
    _port: int = 0  # of the app's metrics

    def run(self, seconds: float) -> SoakResult:
        """Soak for so long."""
        with ExitStack() as stack:
            broker = Broker(self.folder / "broker", _BROKER_SETTINGS)
            broker.start()
            stack.callback(broker.kill)
            create(broker.bootstrap, dict.fromkeys(_INPUTS, PARTITIONS), **_INPUT_SETTINGS)
            create(broker.bootstrap, dict.fromkeys(OUTPUTS, PARTITIONS), **_INPUT_SETTINGS)
            produce(broker.bootstrap, "users", users(), "user")
            app = stack.enter_context(self._app(broker.bootstrap))
            port = self._await_metrics(app)
            rows = SoakRows(time.time_ns() // 1_000_000 + 1_000, self.rate)
            outputs = SoakOutputs(broker.bootstrap, PARTITIONS, rows)
            stack.enter_context(self._watched(outputs))
            feeder = stack.enter_context(self._feeder(broker.bootstrap, rows))
            self._await_views(app, outputs)
            self._soak(app, seconds, outputs, broker, port)
            count = int(feeder.communicate("")[0])
            self.say(f"{count:,} views were written")
            self._await_outputs(app, outputs, count)
            app.send_signal(SIGTERM)
            if status := app.wait(PATIENCE_SECONDS):
                raise RuntimeError(f"the app ended with {status}: {self._said()}")
            closed_ms = rows.time_ms(count) - LATE_MS - 5_000
            differences = list(outputs.differences(count, closed_ms))
        return SoakResult(count, seconds, self.losses, list(self._figures(seconds)), differences)

    def _soak(
        self, app: subprocess.Popen[bytes], seconds: float, outputs: SoakOutputs, broker: Broker, port: int
    ) -> None:
        begun, killed = time.monotonic(), 0
        while (passed := time.monotonic() - begun) < seconds:
            if app.poll() is not None:
                raise RuntimeError(f"the app ended with {app.poll()}: {self._said()}")
            self._sample(passed, outputs, broker, port)
            if passed >= (killed + 1) * seconds / (self.losses + 1) and killed < self.losses:
                killed += self._lose_executor()
                self.say(f"{passed:6.0f} s: executor {killed} of {self.losses} was killed")
            if int(passed) // 60 > int(passed - SAMPLE_SECONDS) // 60:
                self.say(f"{passed:6.0f} s: {outputs.count:,} views came out")
            threading.Event().wait(SAMPLE_SECONDS)

    def _await_views(self, app: subprocess.Popen[bytes], outputs: SoakOutputs) -> None:
        """Wait until views come out as fast as they are written."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while not (latencies := outputs.latencies()) or latencies[-1] > 1_000 * SAMPLE_SECONDS:
            if app.poll() is not None or time.monotonic() > ends:
                raise RuntimeError(f"no views come out in time: {self._said()}")
            threading.Event().wait(1.0)

    def _lose_executor(self) -> int:
        """Kill the executor that has been there for longest; gives how many were."""
        executors = self._pids()["executor"]
        if executors:
            kill(min(executors, key=lambda pid: Path("/proc", str(pid)).stat().st_ctime))
        return bool(executors)

    def _pids(self) -> dict[str, list[int]]:
        return victims(self.folder / "points")

    def _sample(self, at: float, outputs: SoakOutputs, broker: Broker, port: int) -> None:
        pids = {**self._pids(), "broker": [broker.pid]}
        for kind, pid, sample in process_samples(pids):
            for name in ("resident", "proportional", "threads", "files"):
                self._note(kind, name, str(pid), at, getattr(sample, name))
        latencies = outputs.latencies()
        if latencies:
            self._note("enriched", "latency p50", "", at, latencies[len(latencies) // 2])
            self._note("enriched", "latency p99", "", at, latencies[len(latencies) * 99 // 100])
        for name, labels, value in _metrics(port):
            if name == "streamapp_state_entries":
                self._note(f"table {labels['table']}", "entries", "", at, value)
            elif name == "streamapp_state_bytes":
                self._note(f"table {labels['table']}", "store", "", at, value / 2**20)
        for topic, size in self._compacted_bytes(broker).items():
            self._note(topic, "log", "", at, size / 2**20)

    def _note(self, kind: str, name: str, one: str, at: float, value: float) -> None:
        self._samples.setdefault((kind, name), []).append((one, at, value))

    @staticmethod
    def _compacted_bytes(broker: Broker) -> dict[str, int]:
        """Bytes of changelogs and of the checkpoint stream on the broker's disk, by topic."""
        sizes: dict[str, int] = {}
        for folder in (broker.home / "data").glob("soak.*"):
            topic = folder.name.rpartition("-")[0]
            if topic.endswith((".changelog", ".checkpoint")):
                size = 0
                for segment in folder.glob("*.log"):
                    try:
                        size += segment.stat().st_size
                    except FileNotFoundError:  # compacted away
                        continue
                sizes[topic] = sizes.get(topic, 0) + size
        return sizes

    def _figures(self, seconds: float) -> Iterator[SoakFigure]:
        warm = min(MOST_WARM_SECONDS, seconds / 4)
        for (kind, name), samples in sorted(self._samples.items()):
            born = {}
            for one, at, _ in samples:
                born.setdefault(one, at)
            # Each process warms up, also one that takes the place of another.
            settled = [sample for sample in samples if sample[1] - born[sample[0]] >= warm]
            bound = BOUNDS[name]
            if kind in JVM_KINDS:
                bound = JVM_BOUNDS.get(name, bound)
            yield SoakFigure(kind, name, bound, slope(settled, max((seconds - warm) / 30, SAMPLE_SECONDS)))

    def _await_metrics(self, app: subprocess.Popen[bytes]) -> int:
        """The port of the app's metrics, once it runs."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while True:
            for line in self._said().splitlines():
                if line.startswith("{") and json.loads(line).get("event") == "started":
                    return self._port
            if app.poll() is not None or time.monotonic() > ends:
                raise RuntimeError(f"the app does not run: {self._said()}")
            threading.Event().wait(0.2)

    def _await_outputs(self, app: subprocess.Popen[bytes], outputs: SoakOutputs, count: int) -> None:
        """Wait until nothing more comes; what is missing then the comparison says."""
        came, since = -1, time.monotonic()
        while time.monotonic() - since < (
            2 * SAMPLE_SECONDS if outputs.complete(count) else PATIENCE_SECONDS
        ):
            if app.poll() is not None:
                raise RuntimeError(f"the app ended with {app.poll()}: {self._said()}")
            if (comes := outputs.count + len(outputs.windows)) != came:
                came, since = comes, time.monotonic()
            threading.Event().wait(0.5)

    @contextmanager
    def _app(self, address: str) -> Iterator[subprocess.Popen[bytes]]:
        app = yaml.safe_load(APP.read_text("utf-8"))
        app["spec"]["systems"][0]["kafka"]["bootstrapServers"] = address
        (self.folder / "points").mkdir()
        (self.folder / APP.name).write_text(yaml.safe_dump(app), "utf-8")
        self._port = free_port()
        command = [str(Path(sys.executable).with_name("streamapp")), "run", APP.name]
        options = ["--data", "data", "--log-format", "json", "--metrics-port", str(self._port)]
        with (self.folder / "said.txt").open("ab") as said:
            process = subprocess.Popen(
                [*command, *options],
                cwd=self.folder,
                env=os.environ | {VARIABLE: str(self.folder / "points")},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,  # an interrupt at the keyboard is for the soak, which ends it then
            )
        try:
            yield process
        finally:
            for pids in self._pids().values():
                for pid in pids:
                    kill(pid)
            process.wait()

    def _said(self) -> str:
        return (self.folder / "said.txt").read_text("utf-8", "replace")

    @contextmanager
    def _feeder(self, address: str, rows: SoakRows) -> Iterator[subprocess.Popen[str]]:
        command = [sys.executable, "-m", "tests.harness.soak.soak_feeder", address]
        feeder = subprocess.Popen(
            [*command, str(rows.base_ms), str(rows.rate)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield feeder
        finally:
            feeder.kill()
            feeder.wait()

    @contextmanager
    def _watched(self, outputs: SoakOutputs) -> Iterator[None]:
        ended = threading.Event()
        with thread_beside(partial(outputs.watch, ended), ended):
            yield


def _metrics(port: int) -> Iterator[tuple[str, dict[str, str], float]]:
    """The gauges of an app: name, labels, value; none while the app answers nothing."""
    try:
        _, text = get(f"http://127.0.0.1:{port}/metrics")
    except OSError:
        return
    for line in text.splitlines():
        if line.startswith("streamapp_state_"):
            name, _, rest = line.partition("{")
            labels, _, value = rest.rpartition("} ")
            pairs = (pair.partition("=") for pair in labels.split(",") if pair)
            yield name, {key: quoted.strip('"') for key, _, quoted in pairs}, float(value)
