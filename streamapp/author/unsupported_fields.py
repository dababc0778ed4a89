"""What an app may say and this version cannot run yet: one list, looked through before a start."""

import json
from collections.abc import Callable, Iterator

from streamapp.author.names import CHECKPOINT
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import traits_of
from streamapp.spec.resource.operators import Aggregate

Finding = tuple[str, str]
"""The path of a field, and what is not there yet or cannot be."""


def unsupported_fields(app: StreamApp) -> list[Problem]:
    """Every field that says what this version cannot do, each with its path."""
    findings = [entry for rule in RULES for entry in rule(app)]
    return [Problem(0, 0, path, message, Reason.NOT_YET_SUPPORTED) for path, message in findings]


def _systems(app: StreamApp) -> Iterator[Finding]:
    if len(app.spec.systems) > 1:
        yield "spec.systems", _not_yet("this version runs an app on one system")


def _standbys(app: StreamApp) -> Iterator[Finding]:
    if app.spec.placement.standbys:
        yield "spec.placement.standbys", _not_yet("each task has one copy of its state; leave it out")


def _tables(app: StreamApp) -> Iterator[Finding]:
    for index, table in enumerate(app.spec.tables):
        if table.in_versions and table.visibility == "sameBatch":
            message = "versions take each other's place between batches, whatever the joins are; leave it out"
            yield f"spec.tables[{index}].visibility", message


def _versions(app: StreamApp) -> Iterator[Finding]:
    """Bounded data sets whose versions cannot be told apart."""
    carrying = {stream.name for stream in app.spec.streams if stream.carries_watermarks}
    for index, table in enumerate(app.spec.tables):
        kinds = {side.versions for side in table.side_inputs}
        for number, side in enumerate(table.side_inputs):
            where = f"spec.tables[{index}].sideInputs[{number}].versions"
            if side.versions == "none" and len(kinds) > 1:
                yield where, "the table's other side inputs seal versions: say what seals those of this one"
            if side.versions == "endOfStream" and side.stream not in carrying:
                message = (
                    f'no end of stream comes in "{side.stream}"; '
                    "say carriesWatermarks: true if another app makes it"
                )
                yield where, message


def _names(app: StreamApp) -> Iterator[Finding]:
    """Names that two things would be kept under."""
    tables = {table.name for table in app.spec.tables}
    for index, operator in enumerate(app.spec.operators):
        traits = traits_of(operator)
        if traits.keeps_state and operator.name in tables:
            message = f'a table is called "{operator.name}" too, and both keep state under their name'
            yield f"spec.operators[{index}].name", message
        if traits.makes_stream and operator.name == CHECKPOINT:
            message = "the stream of that name holds the app's checkpoints; give the operator another"
            yield f"spec.operators[{index}].name", message


def _dead_letters(app: StreamApp) -> Iterator[Finding]:
    for name, policy in (("onBadRecord", app.spec.on_bad_record), ("onCodeError", app.spec.on_code_error)):
        path = f"spec.{name}.stream"
        if policy.action == "deadLetter" and policy.stream is None:
            yield path, "missing; name the stream that takes bad records"
        if policy.stream is not None:
            yield from _letters(app, path, policy.stream, "bad records")


def _late_rows(app: StreamApp) -> Iterator[Finding]:
    late = app.spec.late_rows
    if late.action == "stream" and late.stream is None:
        yield "spec.lateRows.stream", "missing; name the stream that takes late rows"
    if late.stream is not None:
        yield from _letters(app, "spec.lateRows.stream", late.stream, "late rows")


def _letters(app: StreamApp, path: str, name: str, what: str) -> Iterator[Finding]:
    """What a stream cannot be that takes what was left out."""
    stream = app.spec.stream(name)
    read = {source for operator in app.spec.operators for source in operator.sources}
    read |= {side.stream for table in app.spec.tables for side in table.side_inputs}
    if stream.format != "json":
        yield path, f'{what} are written as json; "{stream.name}" is {stream.format}'
    if stream.name in read:
        yield path, f'the app reads "{stream.name}", and would read its own {what}'


def _emit(app: StreamApp) -> Iterator[Finding]:
    """Totals that no watermark ends."""
    for index, operator in enumerate(app.spec.operators):
        body = operator.body
        if isinstance(body, Aggregate) and body.emit == "onWatermark" and body.window is None:
            message = "running totals have no end that a watermark could pass; say onUpdate, or a window"
            yield f"spec.operators[{index}].aggregate.emit", message


def _avro(app: StreamApp) -> Iterator[Finding]:
    """Schemas that no record is read by."""
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}].avroSchema"
        if stream.avro_schema is None:
            continue
        if stream.format != "avro":
            yield path, f"goes with avro only; the format is {stream.format}"
        try:
            json.loads(stream.avro_schema)
        except json.JSONDecodeError as error:
            yield path, f"is no JSON: {error.msg} at character {error.pos + 1}"


def _timestamps(app: StreamApp) -> Iterator[Finding]:
    """Numbers for times in a format that has times of its own."""
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}].timestamps"
        if stream.timestamps != "text" and stream.format != "json":
            yield path, f"goes with json only; the format is {stream.format}"
        elif stream.timestamps != "text" and stream.carries_watermarks:
            yield path, "an app writes its intermediate streams with times as text"


def _control(app: StreamApp) -> Iterator[Finding]:
    """Streams of other apps tell themselves how far they have come."""
    for index, stream in enumerate(app.spec.streams):
        if stream.carries_watermarks and stream.event_time is not None:
            message = (
                "the stream carries the other app's watermarks; leave eventTime or carriesWatermarks out"
            )
            yield f"spec.streams[{index}].eventTime", message
        if stream.carries_watermarks and stream.format != "json":
            yield f"spec.streams[{index}].format", "an app writes its intermediate streams as json"


def _not_yet(what: str) -> str:
    return f"not yet supported: {what}"


RULES: tuple[Callable[[StreamApp], Iterator[Finding]], ...] = (
    _systems,
    _standbys,
    _tables,
    _versions,
    _late_rows,
    _emit,
    _avro,
    _timestamps,
    _control,
    _names,
    _dead_letters,
)
