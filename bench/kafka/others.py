"""How far others have come, and what it took them: what their processes say of themselves."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from bench.app_runs.runs import REPOSITORY
from bench.kafka.fetched import MissingError, classes, spark
from bench.kafka.sizes import STOCK_BATCH

COMMIT_MS = {"exactly_once_v2": 100, "at_least_once": 30_000}
"""What Kafka Streams has between two commits unless it is told otherwise."""
COUNTING = "counting"
"""The way of Spark that counts; all others join."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Rows that were read, and the CPU seconds and the clock until then."""

    rows: int
    cpu: float
    at: float


def kafka_streams(
    brokers: str, out: str, guarantee: str, views: int, folder: Path, registry: str | None = None
) -> list[Progress]:
    """The join by Kafka Streams, until it has seen so many views: Avro, where there is a registry."""
    command = streams_command(
        brokers, out, guarantee, views, folder, idle_ms=1_000, commit_ms=COMMIT_MS[guarantee]
    )
    return told_by([*command, *([registry] if registry else [])])


def streams_command(
    brokers: str, out: str, guarantee: str, views: int, folder: Path, *, idle_ms: int, commit_ms: int
) -> list[str]:
    """What runs the join by Kafka Streams; a view waits so long for users that have not come."""
    given = [brokers, out, guarantee, str(views), str(folder), str(idle_ms), str(commit_ms)]
    return ["java", "-Xmx1g", "-cp", classes("streams"), "Joined", *given]


def stock_spark(way: str, brokers: str, folder: Path, *, batches: int = 0) -> list[Progress]:
    """One of the ways of Spark, to the topic of its name: to the end, or so many batches."""
    python, jars = spark()
    given = [way, brokers, way, str(STOCK_BATCH), str(folder), jars]
    return told_by([str(python), "-m", "bench.kafka.stock", *given], added=True, batches=batches)


def rate(told: Sequence[Progress], warm: int) -> float:
    """Views for each CPU second after the first ones."""
    first, last = _after(told, warm), told[-1]
    return (last.rows - first.rows) / (last.cpu - first.cpu)


def wall(told: Sequence[Progress], warm: int) -> str:
    """The same by the clock, in words."""
    first, last = _after(told, warm), told[-1]
    return f"{(last.rows - first.rows) / (last.at - first.at):,.0f} rows/s by the clock"


def within(told: Sequence[Progress], first: float, last: float) -> tuple[Progress, Progress]:
    """The progress at which these shares of all rows were read."""
    return _after(told, first * told[-1].rows), _after(told, last * told[-1].rows)


def _after(told: Sequence[Progress], rows: float) -> Progress:
    return next(progress for progress in told if progress.rows >= rows)


def told_by(command: Sequence[str], *, added: bool = False, batches: int = 0) -> list[Progress]:
    """What a process says of its progress; it is ended after so many batches where that is not 0."""
    environment: Mapping[str, str] = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    told: list[Progress] = []
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(  # noqa: S603 - programs of our own
            command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        total, code = 0, 0
        try:
            for line in process.stdout or ():
                if line.startswith("["):
                    rows, cpu = json.loads(line)
                    total = total + rows if added else rows
                    told.append(Progress(total, cpu, monotonic()))
                if batches and len(told) == batches:
                    break
            else:
                code = process.wait()
        finally:
            process.terminate()
        if code:
            errors.seek(0)
            raise RuntimeError(f"{command[0]} ended with {code}:\n{errors.read()[-4000:]}")
    if len(told) < 2:
        raise MissingError(f"{' '.join(command)} said too little of its progress")
    return told
