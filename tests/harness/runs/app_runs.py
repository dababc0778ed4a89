"""Apps run to their end on one Spark session: records in, the records of every stream out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner, Result
from pyspark import SparkContext

from streamapp.author.app_rules import app_problems
from streamapp.author.not_supported import not_supported
from streamapp.cli.main import root
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data, as_yaml
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import AppStorage
from streamapp_runtime.driver.start.launch import Launch, launch
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.connection import EmbeddedConnection, open_system
from streamapp_runtime.systems.stream_system import RECORDS, StreamSystem, await_visibility
from streamapp_runtime.systems.topic_partition import TopicPartition
from streamapp_runtime.testing.in_process_lanes import InProcessHosting
from tests.harness.core.app_resources import app_resource
from tests.harness.engine.one_system import OneSystem, storage_at_home
from tests.harness.engine.record_values import VISIBILITY_SECONDS
from tests.harness.runs.called_observer import EVENTS, CalledObserver
from tests.harness.runs.drained_loop import MOST_STEPS, drain
from tests.harness.runs.run_process import COMMAND

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a stream, as it lies there."""

    key: str | None
    value: Any  # of JSON; bytes where it is none; None for a tombstone
    partition: int = 0


@dataclass(frozen=True, slots=True)
class Input:
    """What a record of an input is: bytes are taken as they are, all else becomes JSON."""

    key: str | None
    value: Any
    timestamp: int = 0


@dataclass(slots=True)
class AppEnv:
    """A system of streams, what runs lanes, and the apps that are run there.

    On a system that is shared with others every name begins with a prefix, which tests need not know.
    """

    session: SparkContext | SparkOnDemand
    home: AppStorage
    system: StreamSystem
    prefix: str = ""
    hostings: dict[str, InProcessHosting] = field(default_factory=dict)  # of apps in the test's own process

    def loop(self, run: CurrentRun, **options: Any) -> Loop:
        """A loop over an app's lanes, on the session's executors or in the test's own process.

        Options are those of the loop, and who listens to it.
        """
        hosting = None
        if isinstance(self.session, SparkOnDemand):
            hosting = InProcessHosting()
            hosting = self.hostings.setdefault(run.launch.app.application_id, hosting)
        calls = {name: options.pop(name) for name in EVENTS & options.keys()}
        return Loop(self.session, run, hosting=hosting, observer=CalledObserver(**calls), **options)

    def end_lanes(self) -> None:
        """End the lanes of the test's own process, as the end of their processes would."""
        for hosting in self.hostings.values():
            hosting.processes.close()

    @property
    def data(self) -> Path:
        """A folder of the app's own."""
        return self.home.state.parent

    def write(self, stream: str, records: Sequence[Input], partitions: int = 2) -> None:
        """Append records where their keys belong."""
        write_all(self.system, self.prefix + stream, records, partitions, f"{self.prefix}tests")

    def grow(self, stream: str, partitions: int) -> None:
        """Give a stream more partitions."""
        self.system.grow(self.prefix + stream, partitions)

    def command(self, app: StreamApp, *options: str) -> list[str]:
        """What runs an app in a process of its own."""
        return [str(COMMAND), "run", *self._file_and_data(app), *options]

    def planned(self, app: StreamApp) -> Result:
        """What `plan --live` says of an app."""
        return CliRunner().invoke(root, ["plan", *self._file_and_data(app), "--live"])

    def _file_and_data(self, app: StreamApp) -> list[str]:
        file = self.data / f"{app.metadata.name}.yaml"
        file.write_text(as_yaml(self.in_environment(app)), "utf-8")
        return [str(file), "--data", str(self.data)]

    def ends(self, stream: str, *partitions: int) -> None:
        """Append a record without a key to these partitions: it ends a version."""
        end = pa.record_batch([[None], [None], [0]], schema=RECORDS)
        transaction = self.system.begin(f"{self.prefix}tests", 0)
        written = [TopicPartition(self.prefix + stream, index) for index in partitions]
        for partition in written:
            transaction.append(partition, end)
        transaction.commit()
        await_visibility(self.system, written, VISIBILITY_SECONDS)

    def launched(
        self, app: StreamApp, processors: int = 1, *, show_values: bool = False
    ) -> tuple[CheckpointStream, Launch]:
        """The app, ready to run; AppRefusedError for what a run refuses before it asks the compiler."""
        app = self.in_environment(app)
        if problems := [*not_supported(app), *app_problems(app)]:
            raise AppRefusedError(problems)
        ledger = CheckpointStream(self.system, f"{app.application_id}.checkpoint")
        functions = load_user_functions(app)
        context = AppContext(
            app,
            storage_at_home(self.home, app),
            OneSystem(self.system, app),
            ledger,
            functions,
            show_values=show_values,
        )
        return ledger, launch(context, self.session, processors)

    def run(self, app: StreamApp, *, rows: int | None = None, processors: int = 1) -> list[BatchResult]:
        """Run an app until it has read all that there is."""
        _, ready = self.launched(app, processors)
        loop = self.loop(CurrentRun.of(ready, batch_rows=rows or app.spec.batch.rows), pause=_no_pause)
        loop.start()
        batches = drain(loop)
        loop.release()
        self.end_lanes()
        return batches

    def run_to_end(self, app: StreamApp, *, rows: int | None = None) -> list[BatchResult]:
        """Run a batch app until it says that all has ended."""
        _, ready = self.launched(app)
        loop = self.loop(CurrentRun.of(ready, batch_rows=rows or app.spec.batch.rows), pause=_no_pause)
        loop.start()
        batches = []
        while not loop.planner.ended:
            batch = loop.step()
            assert batch is not None or loop.planner.behind, "nothing is left to do, and it has not ended"
            batches += [batch] if batch else []
            assert len(batches) < MOST_STEPS
        loop.release()
        loop.close_turn()
        self.end_lanes()
        return batches

    def records(self, stream: str) -> list[Record]:
        """All records of a stream, partition by partition."""
        return read_all(self.system, self.prefix + stream)

    def rows(self, stream: str) -> list[Row]:
        """The values of a stream, in an order of their own."""
        return in_order([record.value for record in self.records(stream)])

    def in_environment(self, app: StreamApp) -> StreamApp:
        """An app that was made for an embedded log, as it has to be for the system that is here."""
        there = self.home.systems.of_home
        if isinstance(there, EmbeddedConnection):
            return app
        data = as_data(app)
        spec = {"partitionSettle": "0s"} | data["spec"]  # tests themselves are the producers
        for stream in spec["streams"]:
            stream["topic"] = self.prefix + stream.get("topic", stream["name"])
        spec["systems"] = [{"name": "main", "kafka": {"bootstrapServers": there.bootstrap_servers}}]
        spec["applicationId"] = self.prefix + app.application_id
        return _parsed(data | {"spec": spec})


def write_all(
    system: StreamSystem, stream: str, records: Sequence[Input], partitions: int, writer: str = "tests"
) -> None:
    """Append records where their keys belong."""
    system.create(stream, partitions)
    keys = pa.array([None if r.key is None else r.key.encode() for r in records], pa.binary())
    values = pa.array([_value(r.value) for r in records], pa.binary())
    times = pa.array([r.timestamp for r in records], pa.int64())
    every = pa.record_batch([keys, values, times], schema=RECORDS)
    places = partition_of(keys, partitions)
    transaction = system.begin(writer, 0)
    written = [TopicPartition(stream, index) for index in sorted({*places.tolist()})]
    for partition in written:
        transaction.append(partition, every.filter(pa.array(places == partition.index)))
    transaction.commit()
    await_visibility(system, written, VISIBILITY_SECONDS)


def read_all(system: StreamSystem, stream: str) -> list[Record]:
    """All records of a stream, partition by partition."""
    count = system.partitions(stream)
    assert count is not None, f"there is no stream {stream}"
    found = []
    partitions = [TopicPartition(stream, index) for index in range(count)]
    await_visibility(system, partitions, VISIBILITY_SECONDS)
    for partition in partitions:
        span = system.spans([partition])[partition]
        for batch in system.read(partition, span.oldest, span.end):
            for record in batch.to_pylist():
                key = None if record["key"] is None else record["key"].decode()
                found.append(Record(key, _read(record["value"]), partition.index))
    return found


@contextmanager
def environment_at(
    session: SparkContext | SparkOnDemand, home: AppStorage, prefix: str = ""
) -> Iterator[AppEnv]:
    system = open_system(home.systems.of_home)
    env = AppEnv(session, home, system, prefix)
    try:
        yield env
    finally:
        env.end_lanes()
        system.close()


def app(
    *operators: Row,
    streams: Sequence[Row] = (),
    tables: Sequence[Row] = (),
    name: str = "app",
    **spec: Any,
) -> StreamApp:
    """An app of these parts on the embedded system."""
    return _parsed(app_resource(operators, streams, tables, name, **spec))


def _parsed(data: Row) -> StreamApp:
    found = parse_data(data)
    assert not found.problems, [str(problem) for problem in found.problems]
    return found.apps[0]


def inputs(rows: Sequence[Row], key: str | None = None) -> list[Input]:
    """Rows as records under a column of theirs."""
    return [Input(None if key is None or row[key] is None else str(row[key]), row) for row in rows]


def in_order(rows: Sequence[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True, default=str))


def last_by_key(records: Sequence[Record]) -> Mapping[str | None, Any]:
    return {record.key: record.value for record in records}


def _value(value: Any) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else json.dumps(value).encode()


def _read(value: bytes | None) -> Any:
    try:
        return None if value is None else json.loads(value)
    except ValueError:
        return value


def _no_pause(_: float) -> None:
    """Go on at once."""
