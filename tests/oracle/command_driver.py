"""The driver by processes: `streamapp run` reads each send to its end, and dies at crash points in between.

The kit opens the log and the stores that the processes leave, goes on with them, and says what came of it.
"""

import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import yaml

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp_runtime.crash_points import VARIABLE
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import EmbeddedConnection
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.record_rows import append_records
from streamapp_runtime.testing.tested_app import app_of, tested_app
from streamapp_runtime.testing.tested_streams import TestedStreams
from tests.harness.runs.run_process import COMMAND
from tests.oracle.cases.case import Case, Grow, Kill, Send
from tests.oracle.cases.resource_reading import input_streams
from tests.oracle.kit_driver import Outcome, input_batch, outcome_of, refuse_spark

CRASH_POINTS: Final = (
    "commit.after.processor-0",
    "commit.before.processor-0",
    "delivery.after",
    "delivery.before",
    "driver.ordered",
    "driver.recorded",
    "driver.reported",
    "store.before-apply",
    "transaction.handed-out",
)
LONGEST_SECONDS: Final = 300.0
DONE: Final = 0


class RunFailedError(Exception):
    """A process of an accepted app ended with something else than 0 or its own kill."""


@dataclass(slots=True)
class _Runs:
    """The processes of one app, one after the other."""

    folder: Path
    case: Case
    chance: random.Random
    dies: bool = False  # whether one of the next processes is to be killed
    deaths: int = 0

    def to_the_end(self) -> None:
        """Read all that there is: a driver that is killed has a successor, and replaces a lane itself."""
        point = self.folder / "points" / self.chance.choice(CRASH_POINTS)
        if self.dies:
            point.touch()
        while self._run() == -signal.SIGKILL:
            pass
        if self.dies and not point.exists():
            self.deaths += 1
            self.dies = False
        point.unlink(missing_ok=True)

    def _run(self) -> int:
        options = ["--processors", str(self.case.processors), "--quiet"]
        if not self.case.is_batch:
            options.append("--until-end")
        ended = subprocess.run(
            [COMMAND, "run", self.folder / "app.yaml", *options],
            env=os.environ | {VARIABLE: str(self.folder / "points")},
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )
        if ended.returncode not in {DONE, -signal.SIGKILL}:
            raise RunFailedError(f"exit code {ended.returncode}: {ended.stderr[-600:]}")
        return ended.returncode


@dataclass(slots=True)
class CommandDriver:
    """Runs cases, and counts the processes that died in them."""

    deaths: int = 0

    def __call__(self, case: Case) -> Outcome:
        """Run a case; AppRefusedError where the app is refused."""
        app = tested_app(app_of(case.resource))
        with TemporaryDirectory(prefix="oracle-") as name:
            folder = Path(name)
            self.deaths += _run_steps(app, case, folder)
            return _outcome(case, folder)


def _outcome(case: Case, folder: Path) -> Outcome:
    now = int(time.time() * 1000)
    with InProcessApp(
        case.resource, processors=case.processors, at=now, folder=folder, spark_notice=refuse_spark
    ) as opened:
        if case.is_batch:
            opened.run_turn()
        return outcome_of(opened, case)


def _run_steps(app: StreamApp, case: Case, folder: Path) -> int:
    """Run all steps; the number of processes that died."""
    storage = embedded_storage(folder, app)
    (folder / "points").mkdir()
    data = as_data(app)
    for system in data["spec"]["systems"]:
        connection = storage.systems.by_name[system["name"]]
        assert isinstance(connection, EmbeddedConnection)
        system["embedded"]["path"] = connection.folder
    (folder / "app.yaml").write_text(yaml.safe_dump(data), "utf-8")
    systems = Systems(storage.systems)
    streams = TestedStreams(app, systems)
    names = [stream["name"] for stream in input_streams(case.spec)]
    streams.create_inputs(dict.fromkeys(names, case.partitions))
    runs = _Runs(folder, case, random.Random(case.seed))  # noqa: S311 - nothing here is secret
    try:
        for step in case.steps:
            match step:
                case Send(stream, records):
                    encode = partial(streams.codec(stream).records, keys=None, at=0)
                    append_records(
                        systems,
                        stream,
                        input_batch(app.spec.stream(stream), encode, records),
                        app.spec.stream(stream).partitioner,
                    )
                    if not case.is_batch:
                        runs.to_the_end()
                case Kill():
                    runs.dies = True
                case Grow(partitions):
                    for stream in names:
                        systems.grow(stream, partitions)
        if case.is_batch:
            runs.dies = runs.chance.random() < 0.5
            runs.to_the_end()
    finally:
        systems.close()
    return runs.deaths
