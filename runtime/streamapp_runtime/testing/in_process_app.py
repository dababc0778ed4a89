"""An app that a test feeds, asks, stops and grows: what `TestApp` does."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

import pyarrow as pa

from streamapp.author.app_streams import main_inputs
from streamapp.author.names import checkpoint_stream
from streamapp.author.start_problems import start_problems
from streamapp.spec.problem import nearest
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop, LoopObserver
from streamapp_runtime.driver.batches.retries import OutageNotice
from streamapp_runtime.driver.batches.run_settings import CurrentRun, run_settings
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.outbox_delivery import OutboxDeliveries
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.driver.inputs.bounded_turns import BoundedTurn
from streamapp_runtime.driver.modes.model_author import ModelAuthor
from streamapp_runtime.driver.reporting.open_windows import OpenWindows, open_windows
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.launch import launch
from streamapp_runtime.driver.start.operator_checks import unloadable_code
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.expressions.spark_source import RecordedSpark, SparkJvm, SparkOnDemand
from streamapp_runtime.lanes import tables_file
from streamapp_runtime.program.program import Program
from streamapp_runtime.program.spark_reasons import spark_reasons
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.testing.app_under_test import TestApp
from streamapp_runtime.testing.clock_times import (
    START,
    TestTime,
    duration,
    from_milliseconds,
    to_milliseconds,
)
from streamapp_runtime.testing.data_folder import data_folder
from streamapp_runtime.testing.in_process_lanes import InProcessHosting, KilledError
from streamapp_runtime.testing.kit_errors import AppFailedError, WrongUseError
from streamapp_runtime.testing.memory_registry import (
    SchemaSource,
    TestedStorage,
    register_of_app,
    registry_of_app,
)
from streamapp_runtime.testing.record_rows import (
    Headers,
    Row,
    RowCodec,
    StreamRecord,
    append_records,
    end_version,
    with_headers,
)
from streamapp_runtime.testing.row_diff import Rows
from streamapp_runtime.testing.side_outputs import BadRecordSeen, LateRowSeen, bad_records, late_rows
from streamapp_runtime.testing.tested_app import (
    AppSource,
    app_of,
    ended_inputs,
    refreshed_streams,
    tested_app,
)
from streamapp_runtime.testing.tested_state import TestedState
from streamapp_runtime.testing.tested_streams import TestedStreams

MOST_STEPS: Final = 2_000
"""So many batches in a row an app may run on what one call has given it."""


def _no_pause(_: float) -> None:
    """Try again at once."""


@dataclass(frozen=True, slots=True)
class _TroubleObserver(LoopObserver):
    """Keeps why batches failed."""

    troubles: list[str]

    def trouble(self, why: str) -> None:
        """Keep the reason."""
        self.troubles.append(why)

    def outage(self, notice: OutageNotice) -> None:
        """Keep what is waited for."""
        self.troubles.append(notice.reason)


@dataclass(slots=True)
class _Clock:
    """The app's own time, in milliseconds. It never goes back, and stands still between calls."""

    user: int  # as tests have said it
    app: int  # the same, and what the app itself has waited for

    def move(self, to: int) -> None:
        self.user, self.app = to, max(to, self.app)

    def seconds(self) -> float:
        return self.app / 1000


def _shared_jvm() -> SparkJvm:
    from streamapp_runtime.testing.shared_jvm import shared_jvm

    return shared_jvm()


class InProcessApp(TestApp):
    """The app that `TestApp` makes."""

    def __init__(
        self,
        source: AppSource,
        *,
        partitions: int | Mapping[str, int] = 1,
        processors: int = 1,
        at: TestTime = START,
        name: str | None = None,
        observed: Sequence[str] = (),
        schemas: Mapping[str, SchemaSource] | None = None,
        folder: Path | None = None,
        spark_notice: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start an app; AppRefusedError with every problem where it cannot run.

        `partitions` are those of the streams that it reads, all alike or by name. `name` chooses among
        several apps of a source. `observed` are operators whose rows `rows` gives too, by their names.
        `schemas` are those of a registry in memory that stands in for the one of the app: by subject, each of
        the format of its stream. Without them the app asks the registry that it names.
        `folder` is an empty one for streams and stores, which stays; without it they go with the app.
        `spark_notice` is called before Spark is started, with what needs it.
        """
        self._observed = tuple(observed)
        self._deployed = app_of(source, name)  # with the tables that rows of streams go to
        self.app = tested_app(self._deployed, self._observed)
        registry = None if schemas is None else registry_of_app(self.app, schemas)
        self._recorded_spark = RecordedSpark(_shared_jvm, spark_notice)
        self._spark = SparkOnDemand(self._recorded_spark.open)
        self._clock = _Clock(to_milliseconds(at), to_milliseconds(at))
        self._processors = processors
        self._hosting = InProcessHosting()
        self._loop: Loop | None = None
        self._program: Program | None = None
        self._author: ModelAuthor | None = None
        self._troubles: list[str] = []
        self._ended_tables: frozenset[str] = frozenset()
        self._next_offsets: dict[Partition, int] = {}  # of what `new_rows` has returned
        self.batches: list[BatchResult] = []
        self.batch_done: Callable[[BatchResult], None] = lambda _: None
        self._folders = ExitStack()
        of_streams = Path(self._folders.enter_context(data_folder()) if folder is None else folder)
        self._place = TestedStorage(of_streams, registry)
        self._storage = self._place.of(self.app)
        self._systems = Systems(self._storage.systems)
        self._deliveries = OutboxDeliveries(self.app, self._storage.systems)
        try:
            self._streams.create_inputs(partitions)
            if self.app.spec.mode == "stream":
                self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Close at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """End the app, and take its streams and stores away."""
        self._loop = None
        self._hosting.processes.close()
        self._deliveries.close()
        self._systems.close()
        self._folders.close()

    @property
    def _streams(self) -> TestedStreams:
        return TestedStreams(self.app, self._systems, self._program)

    @property
    def _state(self) -> TestedState:
        return TestedState(self.app, self._storage, self._systems.home, self._hosting.processes)

    @property
    def now(self) -> int:
        """The test's time, in milliseconds since 1970 began."""
        return self._clock.user

    @property
    def spark_reasons(self) -> tuple[str, ...]:
        """The expressions that only Spark's SQL can judge or compute, and where they stand."""
        return spark_reasons(self.app, self._recorded_spark.texts)

    def send(
        self,
        stream: str,
        rows: Row | bytes | Iterable[Row | bytes],
        *,
        at: TestTime | None = None,
        key: str | None = None,
        headers: Headers | None = None,
    ) -> None:
        """Write rows to a stream, and have the app process them.

        A row is a dict of the stream's columns; bytes are a record's value as they are. `at` moves the clock,
        and is the event time of rows that do not have one. Without it the clock moves to the newest event
        time among the rows. `key` takes the place of the key that the rows have. `headers` are those of each
        record, by their names or in an order, in which a name may stand twice.
        """
        listed: list[Row | bytes] = [rows] if isinstance(rows, dict | bytes) else list(rows)
        codec = self._streams.codec(stream)
        if at is not None:
            self._move(at)
            listed = [codec.timed(row, self.now) for row in listed]
        records = codec.records(listed, None if key is None else [key] * len(listed), self.now)
        if headers:
            records = with_headers(records, headers)
        self._write([(codec, records)], moves_clock=at is None)

    def is_refreshed(self, stream: str) -> bool:
        """True if a stream is a table that the app reads again and again: each send is a version of it."""
        return stream in refreshed_streams(self._deployed)

    def encoded(self, stream: str, rows: Iterable[Row | bytes]) -> pa.RecordBatch:
        """Rows as records of a stream, with the keys that they have."""
        return self._streams.codec(stream).records(list(rows), None, self.now)

    def send_records(self, records: Mapping[str, pa.RecordBatch]) -> None:
        """Write records to several streams at once, and have the app process them.

        The clock moves to the newest event time among them.
        """
        self._write(
            [(self._streams.codec(stream), batch) for stream, batch in records.items()], moves_clock=True
        )

    def delete(self, stream: str, *keys: str | int, at: TestTime | None = None) -> None:
        """Write a tombstone for each key, and have the app process them; a whole number is its text."""
        codec = self._streams.codec(stream)
        for key in keys:
            if not isinstance(key, str | int):
                raise WrongUseError(f"{key!r} is no key; give a text, or a whole number")
        if at is not None:
            self._move(at)
        self._write([(codec, codec.tombstones(keys, self.now))], moves_clock=False)

    def register(self, subject: str, schema: SchemaSource) -> int:
        """Give a subject of the registry in memory a newer schema; its id.

        Rows that are sent from then on are of it; the app itself writes by it after a `restart`.
        """
        if self._place.registry is None:
            raise WrongUseError("the app asks the registry that it names; give TestApp schemas= for another")
        return register_of_app(self._place.registry, self.app, subject, schema)

    def advance(self, to: TestTime | None = None, *, by: str | None = None) -> None:
        """Move the clock, and have the app do what is due by then.

        As in production only records move event time on: a window closes when a later row comes, or when its
        stream is idle for `idleTimeout`.
        """
        if (to is None) is (by is None):
            raise WrongUseError("say either to= or by=, as in advance(by='5m')")
        if to is not None:
            self._move(to)
        elif by is not None:
            self._clock.move(self.now + duration(by))
        if self._loop is not None:
            self._loop.planner.keep_alive()
        self._settle()

    def rows(self, stream: str) -> Rows:
        """All rows of a stream, partition by partition; None for a tombstone."""
        return Rows(record.row for record in self.records(stream))

    def new_rows(self, stream: str) -> Rows:
        """The rows of a stream that were written since the last call, partition by partition."""
        rows = Rows()
        for record in self.records(stream):
            partition = Partition(stream, record.partition)
            if record.offset >= self._next_offsets.get(partition, 0):
                self._next_offsets[partition] = record.offset + 1
                rows.append(record.row)
        return rows

    def records(self, stream: str) -> list[StreamRecord]:
        """All records of a stream, with their keys, times and places."""
        return self._streams.records(stream)

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that the app declares, and the operators that are observed."""
        return self._streams.names()

    def arrow(self, stream: str) -> pa.Table:
        """All rows of a stream as Arrow, partition by partition; a tombstone is no row."""
        return self._streams.arrow(stream)

    def table_arrow(self, name: str) -> pa.Table:
        """The rows of a table with their keys, in all tasks."""
        return self._state.arrow(self._known_table(name), self._lanes)

    def sink_rows(self, stream: str) -> Rows:
        """The rows that the table of a stream has, where the stream is one of a database or a lake.

        A row takes the place of the one before with its primary key, a tombstone deletes it. AppFailedError
        with the reason for which the delivery of production would end.
        """
        return self._streams.sink_rows(self._deployed, stream)

    @property
    def tables(self) -> list[str]:
        """The tables that the app keeps."""
        return [table.name for table in self.app.spec.tables if table.remote is None]

    def size(self, stream: str) -> int:
        """The number of records that a stream has."""
        return self._streams.size(stream)

    def table(self, name: str) -> dict[str, Row]:
        """The rows of a table by their key, in all tasks."""
        return dict(self._state.entries(self._known_table(name), self._lanes))

    def state(self, operator: str) -> Rows:
        """The state that an operator keeps: a row for each of its entries."""
        names = self._state.names()
        if operator not in names:
            raise WrongUseError(f'no operator with state is called "{operator}"{nearest(operator, names)}')
        return Rows({"key": key, **row} for key, row in self._state.entries(operator, self._lanes))

    def late(self) -> list[LateRowSeen]:
        """The rows that came too late for a window or a join."""
        stream = self.app.spec.late_rows.stream
        return [] if stream is None else late_rows(self._systems, stream)

    def open_windows(self) -> tuple[OpenWindows, ...]:
        """The windows that wait for the watermark, by operator: what a run says where it ends with them.

        The app is ended for it, and starts again.
        """
        loop = self._running()
        self._release()
        windows = open_windows(loop.launch, loop.planner.reached)
        self._start()
        return windows

    def bad(self) -> list[BadRecordSeen]:
        """The records that the app has left out, and why, where `onBadRecord` or `onCodeError` say so."""
        policies = (self.app.spec.on_bad_record, self.app.spec.on_code_error)
        streams = dict.fromkeys(policy.stream for policy in policies if policy.stream is not None)
        return [seen for stream in streams for seen in bad_records(self._systems, stream)]

    def restart(self, source: AppSource | None = None) -> None:
        """End the app as it should end, and start it again, as it is or edited. Streams and stores stay."""
        deployed = self._deployed if source is None else app_of(source)
        app = self.app if source is None else tested_app(deployed, self._observed)
        self._release()
        if source is not None:
            self._deployed, self.app = deployed, app
            self._storage = self._place.of(app)
            self._systems = self._systems.relocated(self._storage.systems)
            self._streams.create_inputs(1)
        self._start()

    def kill(self, *, before_commit: bool = False) -> None:
        """End the app as SIGKILL would, and start it again.

        With `before_commit` the next batch that runs is killed: it does all of its work and commits none.
        """
        if before_commit:
            self._hosting.kill_next = True
            return
        self._loop = None
        self._hosting.processes.close()
        self._start()

    def grow(self, stream: str, partitions: int) -> None:
        """Give a stream more partitions; AppRefusedError where the app cannot take it up."""
        name, count = self._streams.declared(stream), self._streams.count(stream)
        if partitions <= count:
            raise WrongUseError(
                f'"{stream}" has {count} partitions, and can only have more; {partitions} is not'
            )
        loop = self._running()
        self._systems.grow(name, partitions)
        if self._author is None:
            raise TypeError("a run has an author")
        proposed = self._author.next(
            loop.launch, loop.lanes.supervisor.lanes, self._spark, self._processors, count=True
        )
        if proposed is None:
            if self._author.warnings:
                reasons = "; ".join(f"{one.path}: {one.message}" for one in self._author.warnings)
                raise AppFailedError(f"the app continues without the new partitions: {reasons}")
            return
        loop.switch(proposed[0])
        self._settle()

    def run_turn(self) -> None:
        """Run an app of `mode: batch` over all that has been sent, to its end."""
        if self.app.spec.mode != "batch":
            raise WrongUseError("an app of mode: stream has no turns; send and advance have it run")
        self._start()
        self._release()

    def _known_table(self, name: str) -> str:
        if name not in self.tables:
            raise WrongUseError(f'no table "{name}"{nearest(name, self.tables)}')
        return name

    def _start(self) -> None:
        app = self.app
        if problems := start_problems(app) or unloadable_code(app):
            raise AppRefusedError(list(problems))
        ledger = CheckpointStream(self._systems.home, checkpoint_stream(app.application_id))
        functions = load_user_functions(app)
        context = AppContext(app, self._storage, self._systems, ledger, functions, self._clock.seconds)
        ready = launch(context, self._spark, self._processors)
        tables_file.write_tables_file(self._storage.state, ready.program, ready.setup)
        settings = replace(run_settings(app), batch_interval=0.0, batch_latency=0.0, copies_paced=False)
        self._program = ready.program
        self._author = ModelAuthor(context, None, self._clock.seconds, self._clock.seconds)
        self._loop = Loop(
            self._spark,
            CurrentRun(ready, settings),
            hosting=self._hosting,
            clock=lambda: self._clock.app,
            pause=_no_pause,
            observer=_TroubleObserver(self._troubles),
        )
        self._deliveries.close()
        self._deliveries = OutboxDeliveries(app, self._storage.systems)
        self._loop.start()
        self._settle()

    def _release(self) -> None:
        if self._loop is not None:
            self._loop.release()
            self._loop.close_turn()
            self._loop = None
        self._hosting.processes.close()

    def _settle(self) -> None:
        """Run batches until nothing is left to be done."""
        if self.app.spec.mode == "batch" and self._loop is None:
            return
        loop = self._running()
        self._end_tables(loop)
        for _ in range(MOST_STEPS):
            try:
                batch = loop.step()
            except KilledError:
                self.kill()
                return
            except FailedError as error:
                self._loop = None
                self._hosting.processes.close()
                raise AppFailedError(str(error)) from None
            if batch is not None:
                self.batches.append(batch)
                self.batch_done(batch)
            awaited = loop.planner.backlog.side_inputs.unended if batch is None else ()
            is_done = loop.planner.ended or (batch is None and (awaited or not loop.planner.behind))
            if is_done and not self._deliveries.deliver_all():
                self._check_ended(awaited)
                return
            if (due := loop.planner.timers.next_due) is not None:
                self._clock.app = max(self._clock.app, due)
        why = f"; the last failure: {self._troubles[-1]}" if self._troubles else ""
        raise AppFailedError(f"after {MOST_STEPS} batches the app still has something to do{why}")

    def _end_tables(self, loop: Loop) -> None:
        """Have the tables that operators read end behind the rows that were sent so far.

        One of which no rows were sent ends when rows of a stream are.
        """
        partitions = loop.launch.partitions.values()
        every = {p for parts in partitions for p in parts if p.stream in self._ended_tables}
        if every:
            ends = {partition: span.end for partition, span in self._systems.spans(every).items()}
            loop.run.launch = replace(loop.launch, turn=BoundedTurn(0, ends))

    def _check_ended(self, awaited: tuple[str, ...]) -> None:
        """Refuse a turn that cannot end. What a stream awaits may be sent later."""
        if awaited and self.app.spec.mode == "batch":
            streams = " and ".join(f'"{stream}"' for stream in awaited)
            raise AppFailedError(f"rows wait for the first version of {streams}, and nothing has ended one")

    def _running(self) -> Loop:
        if self._loop is None:
            hint = "run_turn() runs it" if self.app.spec.mode == "batch" else "restart() starts it again"
            raise WrongUseError(f"the app does not run; {hint}")
        return self._loop

    def _lanes(self) -> Lanes:
        return self._running().lanes.supervisor.lanes

    def _write(self, records: Iterable[tuple[RowCodec, pa.RecordBatch]], *, moves_clock: bool) -> None:
        """Write records, move the clock to their newest event time if asked to, and process them."""
        newest, refreshed = self.now, set()
        tables = ended_inputs(self._deployed)
        for codec, batch in records:
            is_table = codec.stream.name in tables
            if is_table or codec.stream.name in main_inputs(self._deployed):
                self._ended_tables |= {codec.stream.name} if is_table else tables
            refreshed |= {codec.stream.name} if self.is_refreshed(codec.stream.name) else set()
            append_records(self._systems, codec.stream.name, batch, codec.stream.partitioner)
            if moves_clock:
                newest = max([newest, *codec.event_times(batch)])
        for stream in sorted(refreshed):
            end_version(self._systems, stream)
        self._clock.move(newest)
        self._settle()

    def _move(self, to: TestTime) -> None:
        time = to_milliseconds(to)
        if time < self.now:
            before, after = (from_milliseconds(at).isoformat() for at in (self.now, time))
            raise WrongUseError(
                f"it is {before} already, and {after} is earlier; a row that comes late has its time in its "
                "event time column"
            )
        self._clock.move(time)
