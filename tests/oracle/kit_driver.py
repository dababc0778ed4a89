"""The driver in this process: runs a case in the test kit, and says what came of it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa

from streamapp.spec.resource.streams import Stream
from streamapp_runtime.systems.stream_system import HEADERS, RECORDS_WITH_HEADERS, without_empty_headers
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.record_rows import StreamRecord, stored_batches
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
from tests.oracle.cases.resource_reading import input_streams, key_subject_of, subject_of
from tests.oracle.foreign_encoding import foreign_content, foreign_key, foreign_value, framed


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
    foreign_rows: dict[str, list[Row | None]] = field(default_factory=dict)  # of streams, by other libraries
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
        schemas=_first_schemas(case),
        spark_notice=refuse_spark,
    ) as app:
        for number, step in enumerate(case.steps, 1):
            if isinstance(step, Edit):
                app.restart(case.resource_after(number))
            else:
                _take(app, case, step, streams)
        if case.is_batch:
            app.run_turn()
        outcome = outcome_of(app, case)
        _read_keys(app, case, outcome.streams)
        outcome.foreign_rows = _foreign_rows(app, case, outcome.streams)
        return outcome


_DELETION: Final = b'{"op":"d","before":null,"after":null}'


def refuse_spark(reason: str) -> None:
    """The end of a case whose app asks for Spark."""
    raise NeedsSparkError(reason)


def input_batch(
    stream: Stream, encode: Callable[[list[Row]], pa.RecordBatch], records: Sequence[InputRecord]
) -> pa.RecordBatch:
    """The records of an input by the product's encoding of their rows; without a row they are deletions."""
    deletion = _DELETION if stream.format == "debezium" and not stream.flattened else None
    rows = [record.row or {} for record in records]
    values = encode(rows).column("value").to_pylist() if rows else []
    written = [
        deletion if record.row is None else value for record, value in zip(records, values, strict=True)
    ]
    return _record_batch(records, written)


def _record_batch(records: Sequence[InputRecord], written: Sequence[bytes | None]) -> pa.RecordBatch:
    """Records of these values, with keys and times of their own."""
    headers = [[{"name": name, "value": value} for name, value in record.headers] for record in records]
    arrays = [
        pa.array([record.key for record in records], pa.binary()),
        pa.array(written, pa.binary()),
        pa.array([record.timestamp for record in records], pa.int64()),
        pa.array(headers, HEADERS.type),
    ]
    return without_empty_headers(pa.RecordBatch.from_arrays(arrays, schema=RECORDS_WITH_HEADERS))


def _first_schemas(case: Case) -> dict[str, str] | None:
    """The oldest schema of each subject that the app does not register itself; None without a registry."""
    if not case.has_registry:
        return None
    schemas = {}
    for stream in case.spec["streams"]:
        name, of_keys = stream["name"], stream.get("metadata", {}).get("keyWriterSchema", {})
        if name in case.schemas and not stream.get("writerSchema", {}).get("autoRegister"):
            schemas[subject_of(stream)] = case.schemas[name][0]
        if name in case.key_schemas and not of_keys.get("autoRegister"):
            schemas[key_subject_of(stream)] = case.key_schemas[name]
    return schemas


def _sent_batch(app: InProcessApp, case: Case, stream: str, records: Sequence[InputRecord]) -> pa.RecordBatch:
    """The records of a send; those under a registry are encoded without the product."""
    declared = app.app.spec.stream(stream)
    if stream not in case.schemas:
        return input_batch(declared, partial(app.encoded, stream), records)
    (part,) = (one for one in case.spec["streams"] if one["name"] == stream)
    ids = [app.register(subject_of(part), text) for text in case.schemas[stream]]
    values: list[bytes | None] = []
    sent = []
    for record in records:
        value, headers = None, record.headers
        if record.row is not None:
            text = case.schemas[stream][record.version]
            plain = foreign_value(declared.format, text, record.row)
            value, own = framed(plain, ids[record.version], record.framing)
            headers += own
        values.append(value)
        sent.append(replace(record, headers=headers))
    return _record_batch(sent, values)


def _foreign_rows(app: InProcessApp, case: Case, written: Collection[str]) -> dict[str, list[Row | None]]:
    """The rows of outputs under a registry, those of JSON aside, by the libraries of others."""
    rows: dict[str, list[Row | None]] = {}
    for stream in case.spec["streams"]:
        name, form = stream["name"], stream.get("format")
        if name in written and name in case.schemas and form != "json":
            text = case.schemas[name][0]
            schema_id = app.register(subject_of(stream), text)
            rows[name] = [
                foreign_content(form, text, schema_id, value) for value in _stored(app, name, "value")
            ]
    return rows


def _read_keys(app: InProcessApp, case: Case, written: dict[str, list[WrittenRecord]]) -> None:
    """Put the texts of keys under a registry, by the libraries of others, in place of their bytes."""
    for stream in case.spec["streams"]:
        name = stream["name"]
        if name in written and name in case.key_schemas:
            form, text = stream["metadata"]["keyFormat"], case.key_schemas[name]
            schema_id = app.register(key_subject_of(stream), text)
            keys = [foreign_key(form, text, schema_id, key) for key in _stored(app, name, "key")]
            records = zip(written[name], keys, strict=True)
            written[name] = [replace(record, key=key) for record, key in records]


def _stored(app: InProcessApp, stream: str, part: str) -> list[bytes | None]:
    """The values or the keys of a stream as they lie there, in the order of its records."""
    return [one for _, batch in stored_batches(app._systems, stream) for one in batch[part].to_pylist()]


def _take(app: InProcessApp, case: Case, step: Step, streams: Sequence[str]) -> None:
    match step:
        case Send(stream, records):
            app.send_records({stream: _sent_batch(app, case, stream, records)})
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
