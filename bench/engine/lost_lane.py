"""The executor of one lane of two is killed: how long rows of either lane wait, in lock-step and not.

A producer writes a row for each user 50 times a second. What is measured is the longest time between two rows
that leave the app, of the users of the lane that was lost, and of those of the other.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.app_runs.runs import REPOSITORY
from bench.row import Aim, Compared, Row
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition

LANES = 2
USERS = 8
ROUND_SECONDS = 0.02
SETTLED_SECONDS, AFTER_SECONDS = 10.0, 25.0
START_SECONDS = 120.0
_MARK = "STREAMAPP_BENCH_RUN"
"""An environment variable that all processes of a run inherit."""

_APP = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: measured, namespace: bench}
spec:
  applicationId: bench.measured
  processors: 2
  batch: {independentLanes: INDEPENDENT}
  systems: [{name: main, embedded: {path: data}}]
  streams:
    - {name: views, system: main, key: user, columns: "user STRING, n BIGINT"}
    - {name: out, system: main, key: user}
  operators:
    - {name: counted, aggregate: {from: views, key: user, aggregates: "count(*) AS n"}}
    - {name: written, sendTo: {from: counted, stream: out}}
"""


def rows() -> Iterator[Row]:
    """In lock-step and not: the gaps of the lane that was lost, and of the other."""
    lost, other = _gaps(independent=False)
    yield Row("in lock-step: rows of the lane that was lost", lost, "s")
    yield Row("in lock-step: rows of the other lane", other, "s")
    lost_alone, other_alone = _gaps(independent=True)
    yield Row(
        "independent: rows of the lane that was lost", lost_alone, "s", compared=Compared("lock-step", lost)
    )
    compared = Compared("lock-step", other)
    yield Row("independent: rows of the other lane", other_alone, "s", Aim(most=1), compared=compared)


def _gaps(*, independent: bool) -> tuple[float, float]:
    """The longest time without rows after the kill, by lane: of the one that was lost, and of the other."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "app.yaml").write_text(_APP.replace("INDEPENDENT", str(independent).lower()))
        log = EmbeddedSystem(home / "data")
        for stream in ("views", "out"):
            log.create(stream, LANES)
        with _running(home), _feeding(log):
            _await_rows(log)
            time.sleep(SETTLED_SECONDS)
            killed_at = time.time()
            os.kill(_executors(home)[0], signal.SIGKILL)
            time.sleep(AFTER_SECONDS)
        gaps = sorted(_longest_gap(log, index, killed_at) for index in range(LANES))
        log.close()
    return gaps[1], gaps[0]


@contextmanager
def _running(home: Path) -> Iterator[None]:
    """The app, as its users run it."""
    command = [
        sys.executable,
        "-m",
        "streamapp",
        "run",
        "app.yaml",
        "--data",
        "data",
        "--processors",
        str(LANES),
    ]
    environment = {
        "PYTHONPATH": str(REPOSITORY),
        _MARK: str(home),
    }
    with (home / "run.log").open("wb") as output:
        run = subprocess.Popen(command, cwd=home, stderr=output, env=os.environ | environment)  # noqa: S603 - our own
        try:
            yield
        finally:
            run.terminate()
            with suppress(subprocess.TimeoutExpired):
                run.wait(60)
            run.kill()


@contextmanager
def _feeding(log: EmbeddedSystem) -> Iterator[None]:
    """A row for each user, again and again."""
    users = pa.array([f"user-{n}" for n in range(USERS)]).cast(pa.binary())
    values = pa.array([f'{{"user":"user-{n}","n":1}}'.encode() for n in range(USERS)], pa.binary())
    records = pa.record_batch([users, values, pa.nulls(USERS, pa.int64())], schema=RECORDS)
    places = partition_of(users, LANES)
    stopped = threading.Event()

    def feed() -> None:
        while not stopped.wait(ROUND_SECONDS):
            transaction = log.begin("bench.producer", 0)
            for partition in range(LANES):
                transaction.append(
                    TopicPartition("views", partition), records.filter(pa.array(places == partition))
                )
            transaction.commit()

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _await_rows(log: EmbeddedSystem) -> None:
    until = time.monotonic() + START_SECONDS
    out = [TopicPartition("out", index) for index in range(LANES)]
    while not all(span.end for span in log.spans(out).values()):
        if time.monotonic() > until:
            raise TimeoutError("the app has written no row")
        time.sleep(0.1)


def _executors(home: Path) -> list[int]:
    """The executors of the app that runs in a folder."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_executor = b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes()
            if is_executor and f"{_MARK}={home}".encode() in (folder / "environ").read_bytes():
                processes.append(int(folder.name))
    return sorted(processes)


def _longest_gap(log: EmbeddedSystem, index: int, since: float) -> float:
    partition = TopicPartition("out", index)
    span = log.spans([partition])[partition]
    records = pa.Table.from_batches(list(log.read(partition, span.oldest, span.end)))
    times = records["timestamp"].to_numpy() / 1e3
    return float(np.diff(times[times > since - 1]).max())
