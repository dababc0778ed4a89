"""An app that a test feeds, asks, stops and grows: what `TestApp` does."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

import pyarrow as pa
from pyspark.sql import SparkSession

from streamapp.author.app_streams import declared_topics
from streamapp.author.names import checkpoint_stream
from streamapp.author.start_problems import start_problems
from streamapp.spec.problem import nearest
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun, run_settings
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.committed_rows import TaskRows, committed_rows
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.driver.modes.model_author import ModelAuthor
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import AppStorage, embedded_storage
from streamapp_runtime.driver.start.launch import Launch, launch
from streamapp_runtime.driver.start.operator_checks import unloadable_code
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.formats.format_options import format_options
from streamapp_runtime.formats.stream_format import DEFAULT_OPTIONS, open_format
from streamapp_runtime.lanes import tables_file
from streamapp_runtime.lanes.tables_file import KnownTable
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.systems.connection import open_system
from streamapp_runtime.systems.stream_system import RECORDS, StreamSystem
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
from streamapp_runtime.testing.record_rows import (
    Row,
    RowCodec,
    StreamRecord,
    append_records,
    stream_records,
)
from streamapp_runtime.testing.row_diff import Rows
from streamapp_runtime.testing.side_outputs import BadRecordSeen, LateRowSeen, bad_records, late_rows
from streamapp_runtime.testing.spark_reasons import spark_reasons
from streamapp_runtime.testing.tested_app import AppSource, tested_app

MOST_STEPS: Final = 2_000
"""So many batches in a row an app may run on what one call has given it."""


def _no_pause(_: float) -> None:
    """Try again at once."""


@dataclass(slots=True)
class _Clock:
    """The app's own time, in milliseconds. It never goes back, and stands still between calls."""

    user: int  # as tests have said it
    app: int  # the same, and what the app itself has waited for

    def move(self, to: int) -> None:
        self.user, self.app = to, max(to, self.app)

    def seconds(self) -> float:
        return self.app / 1000


@dataclass(slots=True)
class _Needs:
    """What made Spark necessary."""

    texts: list[str] = field(default_factory=list)

    def open(self, text: str) -> SparkSession:
        if text and text not in self.texts:
            self.texts.append(text)
        from streamapp_runtime.testing.shared_spark import shared_session

        return shared_session()


class InProcessApp(TestApp):
    """What `TestApp` makes."""

    def __init__(
        self,
        source: AppSource,
        *,
        partitions: int | Mapping[str, int] = 1,
        processors: int = 1,
        at: TestTime = START,
        name: str | None = None,
    ) -> None:
        """Start an app; AppRefusedError with every problem where it cannot run.

        `partitions` are those of the streams that it reads, all alike or by name. `name` chooses among
        several apps of a source.
        """
        self.app = tested_app(source, name)
        self._needs = _Needs()
        self._spark = SparkOnDemand(self._needs.open)
        self._clock = _Clock(to_milliseconds(at), to_milliseconds(at))
        self._processors = processors
        self._hosting = InProcessHosting(self._spark)
        self._loop: Loop | None = None
        self._launch: Launch | None = None
        self._author: ModelAuthor | None = None
        self._troubles: list[str] = []
        self._seen: dict[str, int] = {}
        self.batches: list[BatchResult] = []
        self._folder = data_folder()
        self._storage: AppStorage = embedded_storage(Path(self._folder.name))
        self._system: StreamSystem = open_system(self._storage.connection)
        try:
            self._create_inputs(partitions)
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
        self._system.close()
        self._folder.cleanup()

    @property
    def now(self) -> int:
        """The test's time, in milliseconds since 1970 began."""
        return self._clock.user

    @property
    def spark_reasons(self) -> tuple[str, ...]:
        """Where expressions stand that only Spark's SQL can judge or compute, and what they are."""
        return spark_reasons(self.app, self._needs.texts)

    def send(
        self,
        stream: str,
        rows: Row | bytes | Iterable[Row | bytes],
        *,
        at: TestTime | None = None,
        key: str | None = None,
    ) -> None:
        """Write rows to a stream, and have the app process them.

        A row is a dict of the stream's columns; bytes are a record's value as they are. `at` moves the clock,
        and is the event time of rows that do not have one. Without it the clock moves to the newest event
        time among the rows. `key` takes the place of the key that the rows have.
        """
        listed = [rows] if isinstance(rows, Mapping | bytes) else list(rows)
        codec = self._codec(stream)
        if at is not None:
            self._move(at)
        listed = [self._timed(codec, row, at) for row in listed]
        records = codec.records(listed, None if key is None else [key] * len(listed), self.now)
        append_records(self._system, codec.topic, records)
        if at is None and codec.stream.event_time is not None:
            self._clock.move(max([self.now, *self._event_times(codec, records)]))
        self._settle()

    def delete(self, stream: str, *keys: str, at: TestTime | None = None) -> None:
        """Write a tombstone for each key, and have the app process them."""
        codec = self._codec(stream)
        if at is not None:
            self._move(at)
        arrays = [pa.array([key.encode() for key in keys], pa.binary()), pa.nulls(len(keys), pa.binary())]
        times = pa.array([self.now] * len(keys), pa.int64())
        append_records(
            self._system, codec.topic, pa.RecordBatch.from_arrays([*arrays, times], schema=RECORDS)
        )
        self._settle()

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
        self._settle()

    def rows(self, stream: str) -> Rows:
        """All rows of a stream, partition by partition; None for a tombstone."""
        return Rows(record.row for record in self.records(stream))

    def new_rows(self, stream: str) -> Rows:
        """The rows of a stream that were written since this was last asked."""
        rows, seen = self.records(stream), self._seen.get(stream, 0)
        rows.sort(key=lambda record: record.offset if self._count(stream) == 1 else 0)
        self._seen[stream] = len(rows)
        return Rows(record.row for record in rows[seen:])

    def records(self, stream: str) -> list[StreamRecord]:
        """All records of a stream, with their keys, times and places."""
        if not self._count(stream):
            return []  # the app makes it at its first start
        return list(stream_records(self._system, self._codec(stream)))

    def table(self, name: str) -> dict[str, Row]:
        """The rows of a table by their key, in all tasks."""
        tables = [table.name for table in self.app.spec.tables if table.remote is None]
        if name not in tables:
            raise WrongUseError(f'no table "{name}"{nearest(name, tables)}')
        return dict(self._entries(name))

    def state(self, operator: str) -> Rows:
        """What an operator keeps: a row for each of its entries."""
        names = [known.name for known in self._known_tables()]
        if operator not in names:
            raise WrongUseError(f'no operator with state is called "{operator}"{nearest(operator, names)}')
        return Rows({"key": key, **row} for key, row in self._entries(operator))

    def late(self) -> list[LateRowSeen]:
        """The rows that came too late for a window or a join."""
        stream = self.app.spec.late_rows.stream
        return [] if stream is None else late_rows(self._system, self._topic(stream))

    def bad(self) -> list[BadRecordSeen]:
        """The records that the app has left out, and why, where `onBadRecord` or `onCodeError` say so."""
        policies = (self.app.spec.on_bad_record, self.app.spec.on_code_error)
        streams = dict.fromkeys(policy.stream for policy in policies if policy.stream is not None)
        return [seen for stream in streams for seen in bad_records(self._system, self._topic(stream))]

    def restart(self, source: AppSource | None = None) -> None:
        """End the app as it should end, and start it again, as it is or edited. Streams and stores stay."""
        after = self.app if source is None else tested_app(source)
        self._release()
        if source is not None:
            self.app = after
            self._create_inputs({}, known=True)
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
        topic, count = self._topic(stream), self._count(stream)
        if partitions <= count:
            raise WrongUseError(
                f'"{stream}" has {count} partitions, and can only have more; {partitions} is not'
            )
        loop = self._running()
        self._system.grow(topic, partitions)
        if self._author is None:
            raise TypeError("a run has an author")
        proposed = self._author.next(
            loop.launch, loop.supervisor.lanes, self._spark, self._processors, count=True
        )
        if proposed is None:
            if self._author.warnings:
                reasons = "; ".join(f"{one.path}: {one.message}" for one in self._author.warnings)
                raise AppFailedError(f"the app goes on without the new partitions: {reasons}")
            return
        loop.switch(proposed[0])
        self._launch = loop.launch
        self._settle()

    def run_turn(self) -> None:
        """Run an app of `mode: batch` over all that has been sent, to its end."""
        if self.app.spec.mode != "batch":
            raise WrongUseError("an app of mode: stream has no turns; send and advance have it run")
        self._start()
        self._release()

    def _start(self) -> None:
        app = self.app
        if problems := start_problems(app) or unloadable_code(app):
            raise AppRefusedError(list(problems))
        ledger = CheckpointStream(self._system, checkpoint_stream(app.application_id))
        functions = load_user_functions(app)
        context = AppContext(app, self._storage, self._system, ledger, functions, self._clock.seconds)
        ready = launch(context, self._spark, self._processors)
        tables_file.write_tables_file(self._storage.state, ready.program, ready.setup)
        settings = replace(run_settings(app), batch_interval=0.0)
        self._launch = ready
        self._author = ModelAuthor(context, None, self._clock.seconds, self._clock.seconds)
        self._loop = Loop(
            self._spark,
            CurrentRun(ready, settings),
            hosting=self._hosting,
            clock=lambda: self._clock.app,
            pause=_no_pause,
            trouble=self._troubles.append,
        )
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
            elif not loop.behind:
                return
            if loop.ended:
                return
            if (due := loop.timers.next_due) is not None:
                self._clock.app = max(self._clock.app, due)
        why = f"; the last failure: {self._troubles[-1]}" if self._troubles else ""
        raise AppFailedError(f"after {MOST_STEPS} batches the app still has something to do{why}")

    def _running(self) -> Loop:
        if self._loop is None:
            hint = "run_turn() runs it" if self.app.spec.mode == "batch" else "restart() starts it again"
            raise WrongUseError(f"the app does not run; {hint}")
        return self._loop

    def _move(self, to: TestTime) -> None:
        time = to_milliseconds(to)
        if time < self.now:
            before, after = (from_milliseconds(at).isoformat() for at in (self.now, time))
            raise WrongUseError(
                f"it is {before} already, and {after} is earlier; a row that comes late has its time in its "
                "event time column"
            )
        self._clock.move(time)

    def _timed(self, codec: RowCodec, row: Mapping[str, Any] | bytes, at: TestTime | None) -> Row | bytes:
        """A row with its event time, where `at` says it."""
        time = codec.stream.event_time
        if not isinstance(row, Mapping):
            return row  # which is said to be none
        if at is None or time is None:
            return dict(row)
        name = next(c.name for c in codec.columns if c.name.lower() == time.column.lower())
        if name in row:
            return dict(row)
        divisor = {None: None, "milliseconds": 1, "seconds": 1000}[time.unit]
        return {**row, name: from_milliseconds(self.now) if divisor is None else self.now // divisor}

    def _event_times(self, codec: RowCodec, records: pa.RecordBatch) -> Iterable[int]:
        time = codec.stream.event_time
        for row in codec.rows(records):
            value = None if row is None or time is None else row.get(time.column)
            if value is not None and time is not None:
                is_number = time.unit is not None
                yield (
                    int(value) * (1000 if time.unit == "seconds" else 1)
                    if is_number
                    else to_milliseconds(value)
                )

    def _create_inputs(self, partitions: int | Mapping[str, int], *, known: bool = False) -> None:
        spec = self.app.spec
        if isinstance(partitions, Mapping):
            for name in partitions:
                self._topic(name)
        written = {operator.send_to.stream for operator in spec.operators if operator.send_to is not None}
        own = {spec.late_rows.stream, spec.on_bad_record.stream, spec.on_code_error.stream}
        for stream in spec.streams:
            count = partitions.get(stream.name) if isinstance(partitions, Mapping) else partitions
            if stream.name in own or (stream.name in written and not isinstance(partitions, Mapping)):
                continue
            if stream.name in written and count is None:
                continue
            topic = self._topic(stream.name)
            if not (known and self._system.partitions(topic)):
                self._system.create(topic, count or 1)

    def _topic(self, stream: str) -> str:
        topics = declared_topics(self.app)
        if stream not in topics:
            raise WrongUseError(f'no stream "{stream}"{nearest(stream, self._stream_names())}')
        return topics[stream]

    def _stream_names(self) -> list[str]:
        return [stream.name for stream in self.app.spec.streams if not stream.name.endswith(".test-kit")]

    def _count(self, stream: str) -> int:
        return self._system.partitions(self._topic(stream)) or 0

    def _codec(self, name: str) -> RowCodec:
        """How rows of a stream are written: by its columns, or by those of who writes it."""
        topic, stream = self._topic(name), self.app.spec.stream(name)
        columns: tuple[Column, ...] = ()
        for task in self._launch.program.python_tasks if self._launch else ():
            operation = task.operation
            if isinstance(operation, Read) and operation.stream == name:
                columns = operation.columns
            elif isinstance(operation, Write) and operation.stream == name:
                columns = columns or task.sources[0].columns
        if not columns and stream.columns is None:
            raise WrongUseError(f'nothing says which columns "{name}" has')
        if not columns:
            columns = parse_columns(stream.columns or "")
        options = format_options(self.app).get(name, DEFAULT_OPTIONS)
        return RowCodec(stream, topic, columns, open_format(stream.format, columns, options))

    def _known_tables(self) -> tuple[KnownTable, ...]:
        return tables_file.read_tables_file(self._storage.state).get(self.app.application_id, ())

    def _entries(self, name: str) -> Iterable[tuple[str, Row]]:
        known = next((table for table in self._known_tables() if table.name == name), None)
        if known is None:
            return
        parts = self._stored(known) if known.changelog is None else self._committed(known)
        for part in parts:
            for key, row in zip(part.keys.to_pylist(), part.rows.to_pylist(), strict=True):
                yield key.decode(errors="backslashreplace"), row

    def _committed(self, known: KnownTable) -> Iterable[TaskRows]:
        return committed_rows(self._system, self.app.application_id, known, None)

    def _stored(self, known: KnownTable) -> Iterable[TaskRows]:
        """A table that side inputs fill, as the stores of the lanes hold it."""
        loop = self._running()
        lanes = {
            task: number for number, tasks in enumerate(loop.supervisor.lanes.values()) for task in tasks
        }
        is_broadcast = any(table.name == known.name and table.broadcast for table in self.app.spec.tables)
        for (lane, _), worker in self._hosting.processes.workers.items():
            for task in [task for task, number in lanes.items() if number == lane]:
                with suppress(KeyError):  # another layer has the table
                    store = worker.context.side_input_stores.store(task, known.name)
                    empty = pa.array([], pa.binary())
                    chunks = list(store.batches())
                    keys = pa.concat_arrays([empty, *(keys for keys, _ in chunks)])
                    values = pa.concat_arrays([empty, *(values for _, values in chunks)])
                    yield from (TaskRows(task, *rows) for rows in known.rows(keys, values, None))
                    if is_broadcast:
                        return
