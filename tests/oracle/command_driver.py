"""The driver by processes: `streamapp run` reads each send to its end, and dies meanwhile.

It dies at a crash point or at any moment: the driver, or one of its lanes. Streams are in embedded logs or on
Kafka. The kit opens the logs and the stores that the processes leave, goes on with them, and says what came
of it; on Kafka nobody looks into stores.
"""

import os
import random
import signal
import subprocess
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from streamapp.spec.serialization import as_data
from streamapp_runtime.crash_points import VARIABLE
from streamapp_runtime.driver.start.app_storage import AppStorage, embedded_storage, storage_of
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import EmbeddedConnection
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.record_rows import append_records
from streamapp_runtime.testing.side_outputs import bad_records, late_rows
from streamapp_runtime.testing.tested_app import BAD_STREAM, LATE_STREAM, app_of, tested_app
from streamapp_runtime.testing.tested_streams import TestedStreams
from tests.harness.runs.run_process import COMMAND
from tests.oracle.cases.case import Advance, Case, Edit, Grow, Kill, Send
from tests.oracle.cases.resource_reading import Part, input_streams, milliseconds
from tests.oracle.kafka_cases import named_apart
from tests.oracle.kit_driver import Outcome, input_batch, outcome_of, refuse_spark, written_records

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
AHEAD_VARIABLE: Final = "ORACLE_CLOCK_AHEAD_MS"
"""What `clock/sitecustomize.py` reads."""
LONGEST_SECONDS: Final = 300.0
DONE: Final = 0
AGAIN: Final = 3
"""The exit code of a run that has lost its Spark, or else may be started again."""
_ORACLE: Final = Path(__file__).parent
_FIRST_SECONDS: Final = 3.0
"""How long a run takes, before one has been seen."""


class RunFailedError(Exception):
    """A process of an accepted app ended with something else than 0 or its own kill."""


@dataclass(slots=True)
class _Runs:
    """The processes of one app, one after the other."""

    folder: Path
    case: Case
    chance: random.Random
    ahead_ms: int = 0  # by how much their clock is ahead
    dies: bool = False  # whether one of the next processes is to be killed
    deaths: int = 0
    seconds: float = _FIRST_SECONDS  # as the last run took

    def to_the_end(self) -> None:
        """Read all that there is: a driver that is killed has a successor, and replaces a lane itself."""
        at_any_moment = self.chance.random() < 0.5
        point = self.folder / "points" / self.chance.choice(CRASH_POINTS)
        if self.dies and not at_any_moment:
            point.touch()
        deaths = self.deaths
        while self._run(killed=self.dies and at_any_moment and self.deaths == deaths) != DONE:
            pass
        if self.dies and not at_any_moment and not point.exists():
            self.deaths += 1
        self.dies &= self.deaths == deaths
        point.unlink(missing_ok=True)

    def _run(self, *, killed: bool) -> int:
        options = ["--processors", str(self.case.processors), "--quiet", "--data", str(self.folder / "data")]
        if not self.case.is_batch:
            options.append("--until-end")
        path = os.pathsep.join((str(_ORACLE / "clock"), str(_ORACLE.parents[1])))
        more = {
            VARIABLE: str(self.folder / "points"),
            "PYTHONPATH": path,
            AHEAD_VARIABLE: str(self.ahead_ms),
        }
        command = [COMMAND, "run", self.folder / "app.yaml", *options]
        begun = time.monotonic()
        with (self.folder / "words").open("w+") as words:
            process = subprocess.Popen(command, env=os.environ | more, stdout=words, stderr=words)
            if killed:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(self.chance.uniform(0.0, 0.8 * self.seconds))
                self.deaths += self._kill(process)
            code = process.wait(LONGEST_SECONDS)
            words.seek(0)
            if code not in {DONE, -signal.SIGKILL} and not (killed and code == AGAIN):
                raise RunFailedError(f"exit code {code}: {words.read()[-600:]}")
        if code == DONE:
            self.seconds = time.monotonic() - begun
        return code

    def _kill(self, process: "subprocess.Popen[bytes]") -> bool:
        """Kill the driver or a process below it, its JVM or a lane, if it has not ended."""
        if process.poll() is not None:
            return False
        with suppress(ProcessLookupError):
            os.kill(self.chance.choice([process.pid, *_descendants(process.pid)]), signal.SIGKILL)
        return True


def _descendants(pid: int) -> list[int]:
    """The processes below one."""
    with suppress(FileNotFoundError, ProcessLookupError):
        children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split())
        return [one for child in children for one in (child, *_descendants(child))]
    return []


@dataclass(slots=True)
class CommandDriver:
    """Runs cases, and counts the processes that died in them."""

    kafka: str | None = None  # the address of a broker; without it streams are in embedded logs
    deaths: int = 0

    def __call__(self, case: Case) -> Outcome:
        """Run a case; AppRefusedError where the app is refused."""
        if self.kafka is not None:
            case = named_apart(case, f"oracle-{uuid.uuid4().hex[:12]}-")
        with TemporaryDirectory(prefix="oracle-") as name:
            app_run = _AppRun(case, Path(name), self.kafka)
            self.deaths += app_run.steps()
            return app_run.outcome_on_kafka() if self.kafka else app_run.outcome()


@dataclass(slots=True)
class _AppRun:
    """One case with its folder."""

    case: Case
    folder: Path
    kafka: str | None
    ahead_ms: int = 0
    systems: Systems = field(init=False)

    def steps(self) -> int:
        """Run all steps; the number of processes that died."""
        case, names = self.case, [stream["name"] for stream in input_streams(self.case.spec)]
        (self.folder / "points").mkdir()
        self.deploy(case.resource)
        app = tested_app(app_of(case.resource))
        systems = Systems(self.storage(case.resource).systems)
        streams = TestedStreams(app, systems)
        streams.create_inputs(dict.fromkeys(names, case.partitions))
        runs = _Runs(self.folder, case, random.Random(case.seed))  # noqa: S311 - nothing here is secret
        try:
            for number, step in enumerate(case.steps, 1):
                match step:
                    case Send(stream, records):
                        encode = partial(streams.codec(stream).records, keys=None, at=0)
                        declared = app.spec.stream(stream)
                        append_records(
                            systems, stream, input_batch(declared, encode, records), declared.partitioner
                        )
                        if not case.is_batch:
                            runs.to_the_end()
                    case Kill():
                        runs.dies = True
                    case Advance(by):
                        runs.ahead_ms += milliseconds(by)
                    case Edit():
                        self.deploy(case.resource_after(number))
                    case Grow(partitions):
                        for stream in names:
                            systems.grow(stream, partitions)
            if case.is_batch:
                runs.dies = runs.chance.random() < 0.5
                runs.to_the_end()
        finally:
            systems.close()
        self.ahead_ms = runs.ahead_ms
        return runs.deaths

    def deploy(self, resource: Part) -> None:
        """Write the resource that the next process runs."""
        (self.folder / "app.yaml").write_text(yaml.safe_dump(self.resource_as_run(resource)), "utf-8")

    def resource_as_run(self, resource: Part) -> dict[str, Any]:
        """The resource with the kit's streams for late and bad rows, and where its systems are."""
        app = tested_app(app_of(resource))
        data = as_data(app)
        connections = embedded_storage(self.folder / "data", app).systems.by_name
        for system in data["spec"]["systems"]:
            connection = connections[system["name"]]
            assert isinstance(connection, EmbeddedConnection)
            if self.kafka is None:
                system["embedded"]["path"] = connection.folder
            else:
                del system["embedded"]
                system["kafka"] = {"bootstrapServers": self.kafka}
        if self.kafka is not None:
            data["spec"]["partitionSettle"] = "0s"  # nobody else writes to the inputs
            for stream in data["spec"]["streams"]:  # those of the kit have no topics of their own yet
                stream.setdefault("topic", f"{app.application_id}-{stream['name']}")
        return data

    def storage(self, resource: Part) -> AppStorage:
        """Where the streams of the app are."""
        return storage_of(app_of(self.resource_as_run(resource)), self.folder / "data")

    def outcome(self) -> Outcome:
        """What came of it, as the kit finds it in the folder."""
        resource = self.case.resource_after(len(self.case.steps))
        at = int(time.time() * 1000) + self.ahead_ms
        with InProcessApp(
            resource,
            processors=self.case.processors,
            at=at,
            folder=self.folder / "data",
            spark_notice=refuse_spark,
        ) as opened:
            if self.case.is_batch:
                opened.run_turn()
            return outcome_of(opened, self.case)

    def outcome_on_kafka(self) -> Outcome:
        """What came of it in the topics; nobody looks into the stores."""
        resource = self.case.resource_after(len(self.case.steps))
        systems = Systems(self.storage(resource).systems)
        # Another one in the kit, without any record, knows the columns of outputs.
        with InProcessApp(
            self.case.resource, partitions=self.case.partitions, spark_notice=refuse_spark
        ) as blank:
            if self.case.is_batch:
                blank.run_turn()
            streams = TestedStreams(blank.app, systems, blank._program)
            try:
                return Outcome(
                    written_records(streams.records, self.case),
                    late=[(late.operator, late.time) for late in late_rows(systems, LATE_STREAM)],
                    bad=[bad.reason for bad in bad_records(systems, BAD_STREAM)],
                    is_of_streams=True,
                )
            finally:
                systems.close()
