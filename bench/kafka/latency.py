"""From produce to output over a real Kafka broker: milliseconds until a committed reader sees it, and cores.

Views come evenly, at 1,000 and at 20,000 a second, to 8 partitions; each goes through the join of
`kafka.join`, exactly once. An own process for each engine, two threads or one lane; who produces and who
watches use CPU of the same machine. StreamApp runs with several `batch.latency`, Kafka Streams with several
`commit.interval.ms`: each has a dial between latency and CPU. StreamApp also runs with a `partitionBy` before
the join, at 1,500 views a second. Beside it stands a query of Spark that keeps no state, a filter of the same
views written at least once, in micro-batches and in real-time mode. An idle machine is what this is for.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN
from bench.app_runs.runs import REPOSITORY
from bench.app_runs.spent import cpu_seconds
from bench.command import COMMAND
from bench.kafka.fetched import PYSPARK, MissingError, spark
from bench.kafka.others import streams_command
from bench.kafka.stamped import USERS, Watch, produce
from bench.kafka.topics import PARTITIONS, broker_of_ones_own, create, fill, on_kafka
from bench.row import Compared, Row

RATE, STAGES_RATE, HIGH_RATE = 1_000, 1_500, 20_000
RATES_BY_LATENCY = {"100ms": (RATE, HIGH_RATE), "0s": (RATE, HIGH_RATE), "30ms": (RATE,), "500ms": (RATE,)}
RATES_BY_COMMIT_MS = {100: (RATE, HIGH_RATE), 30: (RATE,), 500: (RATE,)}
"""The default of each comes first."""
LATENCIES_OF_STAGES = ("100ms", "0s")
TRIGGERS = ("micro-batches", "real-time mode")
_JOINED = "    - {name: joined, joinTable: {from: real,"
_AGAIN = "    - {name: again, partitionBy: {from: real, key: user}}\n"
WARM = 10.0
SECONDS = float(os.environ.get("STREAMAPP_BENCH_SECONDS", "20"))
PATIENCE = 120.0


def rows() -> Iterator[Row]:
    """StreamApp, then Kafka Streams."""
    with broker_of_ones_own() as (broker, folder):
        fill(broker.bootstrap, {"users": page_views.users(USERS), "views": iter(())})
        ours: dict[tuple[str, int], Measured] = {}
        for latency, rates in RATES_BY_LATENCY.items():
            for rate, measured in _streamapp(broker.bootstrap, folder, latency, rates):
                ours[latency, rate] = measured
                yield from measured.rows(f"StreamApp, latency {latency}, {rate:,} rows/s")
        for latency in LATENCIES_OF_STAGES:
            for rate, measured in _streamapp(broker.bootstrap, folder, latency, (STAGES_RATE,), stages=2):
                yield from measured.rows(f"StreamApp, two stages, latency {latency}, {rate:,} rows/s")
        try:
            for interval, rates in RATES_BY_COMMIT_MS.items():
                for rate, measured in _kafka_streams(broker.bootstrap, folder, interval, rates):
                    name = f"Kafka Streams, commits every {interval} ms, {rate:,} rows/s"
                    yield from measured.rows(name, ours[f"{interval}ms", rate])
            for trigger in TRIGGERS:
                for rate, measured in _spark(broker.bootstrap, folder, trigger):
                    name = f"Spark {PYSPARK}, {trigger}, a filter at least once, {rate:,} rows/s"
                    yield from measured.rows(name, ours["0s", rate])
        except MissingError as error:
            yield Row(f"left out: {error}", float("nan"), "")


@dataclass(frozen=True, slots=True)
class Measured:
    """How old views were when they came out, and the cores that it took."""

    median: float
    p99: float
    longest: float
    cores: float

    def rows(self, name: str, ours: "Measured | None" = None) -> Iterator[Row]:
        """The figures, beside ours with the same setting."""
        beside = f"p99 {self.p99:,.0f} ms, longest {self.longest:,.0f} ms"
        median, cores = (
            (Compared("StreamApp", ours.median), Compared("StreamApp", ours.cores)) if ours else (None, None)
        )
        yield Row(f"{name}, median", self.median, "ms", beside=beside, compared=median)
        yield Row(f"{name}, cores", self.cores, "cores", compared=cores)


def _streamapp(
    brokers: str, folder: Path, latency: str, rates: Sequence[int], *, stages: int = 1
) -> Iterator[tuple[int, Measured]]:
    name = f"{latency}-{stages}"
    app, out = folder / f"{name}.yaml", f"enriched-{name}"
    create(brokers, out)
    spec = on_kafka(JOIN, brokers).replace("name: enriched,", f"name: enriched, topic: {out},")
    spec = spec.replace("bench.measured", f"bench.measured-{name}")
    if stages > 1:
        spec = spec.replace(_JOINED, f"{_AGAIN}{_JOINED.replace('from: real', 'from: again')}")
    app.write_text(spec.replace("  systems:", f"  batch: {{latency: {latency}}}\n  systems:"))
    command = [str(COMMAND), "run", str(app), "--data", str(folder / f"data-{name}"), "--quiet"]
    yield from _measured("StreamApp", brokers, out, command, rates)


def _kafka_streams(
    brokers: str, folder: Path, interval: int, rates: Sequence[int]
) -> Iterator[tuple[int, Measured]]:
    out = f"streams-{interval}"
    create(brokers, out)
    given = (brokers, out, "exactly_once_v2", 1 << 60, folder / out)
    command = streams_command(*given, idle_ms=0, commit_ms=interval)
    yield from _measured("Kafka Streams", brokers, out, command, rates)


def _spark(brokers: str, folder: Path, trigger: str) -> Iterator[tuple[int, Measured]]:
    python, jars = spark()
    out = f"spark-{trigger.partition('-')[0]}"
    create(brokers, out)
    given = (trigger, brokers, out, str(PARTITIONS), str(folder / out), jars)
    command = [str(python), "-m", "bench.kafka.stock_latency", *given]
    yield from _measured(f"Spark, {trigger}", brokers, out, command, (RATE,))


def _measured(
    name: str, brokers: str, out: str, command: Sequence[str], rates: Sequence[int]
) -> Iterator[tuple[int, Measured]]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY), *_roots()])}
    quiet = subprocess.DEVNULL
    with (
        Watch(brokers, out).following() as watch,
        subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as process,  # noqa: S603 - our own
    ):
        try:
            _await(process, brokers, watch)
            for rate in rates:
                yield rate, _at(name, process.pid, brokers, rate, watch)
        finally:
            process.send_signal(signal.SIGTERM)


def _at(name: str, process: int, brokers: str, rate: int, watch: Watch) -> Measured:
    produce(brokers, rate, WARM)
    start, spent = time.time_ns(), sum(cpu_seconds(process).values())
    sent = produce(brokers, rate, SECONDS)
    cores = (sum(cpu_seconds(process).values()) - spent) / SECONDS
    until = time.monotonic() + PATIENCE
    while len(watch.since(start)) < sent and time.monotonic() < until:
        time.sleep(0.1)
    ages = watch.since(start)
    if len(ages) < sent:
        raise AssertionError(f"{name}: of {sent:,} views {len(ages):,} came out")
    return Measured(float(np.median(ages)), float(np.percentile(ages, 99)), max(ages), cores)


def _await(process: "subprocess.Popen[bytes]", brokers: str, watch: Watch) -> None:
    """Until views go through."""
    until = time.monotonic() + PATIENCE
    start = time.time_ns()
    while not watch.since(start):
        if process.poll() is not None or time.monotonic() > until:
            raise AssertionError(f"nothing came out of {process.args!r}")
        produce(brokers, 10, 0.5)


def _roots() -> list[str]:
    """Where our packages are, for a command that is installed from elsewhere."""
    return [str(Path(REPOSITORY, name)) for name in ("runtime", "operator")]
