"""From produce to output over a real Kafka broker: milliseconds until a committed reader sees it.

Views come evenly, at 1,000 and at 20,000 a second, to 8 partitions; each goes through the join of
`kafka.join`, exactly once. An own process for each engine, two threads or one lane; who produces and who
watches use CPU of the same machine. An idle machine is what this is for.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN
from bench.app_runs.runs import REPOSITORY
from bench.app_runs.spent import cpu_seconds
from bench.command import COMMAND
from bench.kafka.fetched import MissingError
from bench.kafka.others import streams_command
from bench.kafka.stamped import USERS, Watch, produce
from bench.kafka.topics import broker_of_ones_own, create, fill, on_kafka
from bench.row import Compared, Row

RATES = (1_000, 20_000)
WARM = 10.0
SECONDS = float(os.environ.get("STREAMAPP_BENCH_SECONDS", "20"))
PATIENCE = 300.0


def rows() -> Iterator[Row]:
    """StreamApp, then Kafka Streams."""
    with broker_of_ones_own() as (broker, folder):
        fill(broker.bootstrap, {"users": page_views.users(USERS), "views": iter(())})
        app = folder / "join.yaml"
        app.write_text(on_kafka(JOIN, broker.bootstrap))
        ours = [str(COMMAND), "run", str(app), "--data", str(folder / "data"), "--quiet"]
        create(broker.bootstrap, "enriched", "streams")
        medians: dict[int, float] = {}
        for rate, row in _measured("StreamApp", broker.bootstrap, "enriched", ours):
            medians[rate] = row.figure
            yield row
        try:
            given = (broker.bootstrap, "streams", "exactly_once_v2", 1 << 60, folder / "streams")
            theirs = streams_command(*given, idle_ms=0)
        except MissingError as error:
            yield Row(f"left out: {error}", float("nan"), "")
            return
        for rate, row in _measured("Kafka Streams", broker.bootstrap, "streams", theirs):
            yield replace(row, compared=Compared("StreamApp", medians[rate]))


def _measured(name: str, brokers: str, out: str, command: Sequence[str]) -> Iterator[tuple[int, Row]]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY), *_roots()])}
    quiet = subprocess.DEVNULL
    with (
        Watch(brokers, out).following() as watch,
        subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as process,  # noqa: S603 - our own
    ):
        try:
            _await(process, brokers, watch)
            for rate in RATES:
                yield rate, _at(name, process.pid, brokers, rate, watch)
        finally:
            process.send_signal(signal.SIGTERM)


def _at(name: str, process: int, brokers: str, rate: int, watch: Watch) -> Row:
    produce(brokers, rate, WARM)
    start, spent = time.time_ns(), sum(cpu_seconds(process).values())
    produce(brokers, rate, SECONDS)
    cores = (sum(cpu_seconds(process).values()) - spent) / SECONDS
    wanted, until = int(rate * SECONDS * 0.999), time.monotonic() + PATIENCE
    while len(watch.since(start)) < wanted and time.monotonic() < until:
        time.sleep(0.1)
    ages = watch.since(start)
    if len(ages) < wanted:
        raise AssertionError(f"{name}: of {wanted:,} views {len(ages):,} came out")
    beside = f"{cores:.2f} cores; p99 {np.percentile(ages, 99):,.0f} ms, longest {max(ages):,.0f} ms"
    return Row(f"{name}, {rate:,} rows/s, median", float(np.median(ages)), "ms", beside=beside)


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
