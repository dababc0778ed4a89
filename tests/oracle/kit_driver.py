"""The driver in this process: runs a case in the test kit, and says what came of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pyarrow as pa

from streamapp.spec.resource.streams import Stream
from streamapp_runtime.systems.stream_system import HEADERS, RECORDS_WITH_HEADERS, without_empty_headers
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.record_rows import StreamRecord
from tests.oracle.answers.edited_operators import EditedOperators
from tests.oracle.cases.case import (
    Advance,
    Case,
    Edit,
    Grow,
    Header,
    InputRecord,
    Kill,
    Restart,
    Row,
    Send,
    Step,
)
from tests.oracle.cases.resource_reading import input_streams


class NeedsSparkError(Exception):
    """An expression is Spark's, which is not started here."""


@dataclass(frozen=True, slots=True)
class WrittenRecord:
    """A record of an output."""

    key: bytes | None
    time: int
    headers: tuple[Header, ...]
    row: Row | None


@dataclass(slots=True)
class Outcome:
    """What an app wrote, kept and left out."""

    streams: dict[str, list[WrittenRecord]] = field(default_factory=dict)
    tables: dict[str, dict[bytes, dict[str, Any]]] = field(default_factory=dict)
    late: list[tuple[str, int]] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    open: list[tuple[str, int, int, int | None]] = field(default_factory=list)  # as `Expected` has them
    is_of_streams: bool = False  # whether tables and windows that wait were not looked at


def run_in_kit(case: Case) -> Outcome:
    """Run a case; AppRefusedError where the app is refused."""
    streams = [stream["name"] for stream in input_streams(case.spec)]
    at = min((r.timestamp for s in case.steps if isinstance(s, Send) for r in s.records), default=0)
    with InProcessApp(
        case.resource,
        partitions=dict.fromkeys(streams, case.partitions),
        processors=case.processors,
        at=at,
        spark_notice=refuse_spark,
    ) as app:
        for number, step in enumerate(case.steps, 1):
            if isinstance(step, Edit):
                app.restart(case.resource_after(number))
            else:
                _take(app, step, streams)
        if case.is_batch:
            app.run_turn()
        return outcome_of(app, case)


_DELETION: Final = b'{"op":"d","before":null,"after":null}'


def refuse_spark(reason: str) -> None:
    """The end of a case whose app asks for Spark."""
    raise NeedsSparkError(reason)


def input_batch(
    stream: Stream, encode: Callable[[list[Row]], pa.RecordBatch], records: Sequence[InputRecord]
) -> pa.RecordBatch:
    """The records of an input, with keys and times of their own; without a row they are deletions."""
    deletion = _DELETION if stream.format == "debezium" and not stream.flattened else None
    rows = [record.row or {} for record in records]
    values = encode(rows).column("value").to_pylist() if rows else []
    written = [
        deletion if record.row is None else value for record, value in zip(records, values, strict=True)
    ]
    headers = [[{"name": name, "value": value} for name, value in record.headers] for record in records]
    arrays = [
        pa.array([record.key for record in records], pa.binary()),
        pa.array(written, pa.binary()),
        pa.array([record.timestamp for record in records], pa.int64()),
        pa.array(headers, HEADERS.type),
    ]
    return without_empty_headers(pa.RecordBatch.from_arrays(arrays, schema=RECORDS_WITH_HEADERS))


def _take(app: InProcessApp, step: Step, streams: Sequence[str]) -> None:
    match step:
        case Send(stream, records):
            batch = input_batch(app.app.spec.stream(stream), partial(app.encoded, stream), records)
            app.send_records({stream: batch})
        case Kill(before_commit):
            app.kill(before_commit=before_commit)
        case Restart():
            app.restart()
        case Advance(by):
            app.advance(by=by)
        case Grow(partitions):
            for name in streams:
                app.grow(name, partitions)


def outcome_of(app: InProcessApp, case: Case) -> Outcome:
    """What an app has written, keeps and has left out."""
    outcome = Outcome(written_records(app.records, case))
    if not case.is_batch:
        for name in app.tables:
            entries = app.table(name)
            outcome.tables[name] = {_bytes(key) or b"": row for key, row in entries.items()}
    outcome.late = [(late.operator, late.time) for late in app.late()]
    outcome.bad = [bad.reason for bad in app.bad()]
    if not case.is_batch:
        waiting = app.open_windows()
        outcome.open = [(one.operator, one.windows, one.first_end, one.watermark) for one in waiting]
    return outcome


def written_records(
    records: Callable[[str], list[StreamRecord]], case: Case
) -> dict[str, list[WrittenRecord]]:
    """What stands in the outputs, with those that an edit has added or taken away."""
    operators = EditedOperators.of(case).operators.values()
    return {
        body["stream"]: [
            WrittenRecord(_bytes(one.key), one.timestamp, one.headers, one.row)
            for one in records(body["stream"])
        ]
        for kind, body in operators
        if kind == "sendTo"
    }


def _bytes(key: str | None) -> bytes | None:
    return None if key is None else key.encode()
