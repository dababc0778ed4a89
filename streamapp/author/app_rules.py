"""Fields that contradict each other, so that no app can be meant by them: refused before a start."""

import json
import re
from collections.abc import Callable, Iterator

from streamapp.author.app_streams import input_streams, main_inputs, table_streams, written_streams
from streamapp.author.names import CHECKPOINT
from streamapp.spec.problem import Problem, nearest, short
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import traits_of
from streamapp.spec.resource.operators import Aggregate, Join
from streamapp.spec.resource.streams import CsvSigns, Stream, WriterSchema
from streamapp.spec.resource.systems import ONLY_READ, ONLY_WRITTEN
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.spec.value_types.format_names import (
    READ_ONLY,
    TIMES_OF_DEBEZIUM,
    WITH_REGISTRY,
    WITH_TIMES_AS_NUMBERS,
)

_local_time = re.compile(r"\bTIMESTAMP_NTZ\b(?!:)")
_decimal = re.compile(r"\b(DECIMAL|DEC|NUMERIC)\b(?!:)")
"""Types of columns or their parts; before a colon stands the name of a part."""


def app_problems(app: StreamApp) -> Iterator[Problem]:
    """Every such field, at its path, with what would be right."""
    for rule in RULES:
        yield from rule(app)


def _of_other_format(path: str, stream: Stream, formats: str, mend: str) -> Problem:
    """The problem of an option that the stream's format does not have."""
    return _invalid(path, f"goes with {formats} only; the format is {stream.format}; {mend}")


def _invalid(path: str, message: str, reason: Reason = Reason.INVALID_SPEC) -> Problem:
    return Problem(0, 0, path, message, reason)


def _visibility(app: StreamApp) -> Iterator[Problem]:
    for index, table in enumerate(app.spec.tables):
        if app.spec.in_versions(table) and table.visibility == "sameBatch":
            message = "versions take each other's place between batches, whatever the joins are; leave it out"
            yield _invalid(f"spec.tables[{index}].visibility", message)


def _versions(app: StreamApp) -> Iterator[Problem]:
    """Bounded data sets whose versions cannot be told apart."""
    carrying = {stream.name for stream in app.spec.streams if stream.carries_watermarks}
    for index, table in enumerate(app.spec.tables):
        seals = {app.spec.versions_of(side) for side in table.side_inputs}
        for number, side in enumerate(table.side_inputs):
            path = f"spec.tables[{index}].sideInputs[{number}].versions"
            if app.spec.versions_of(side) == "none" and len(seals) > 1:
                message = "the table's other side inputs seal versions: say what seals those of this one"
                yield _invalid(path, f"{message} (of a table that is read: refresh)")
            if side.versions == "endOfStream" and side.stream not in carrying:
                message = f'no end of stream comes in "{side.stream}"; '
                yield _invalid(path, f"{message}say carriesWatermarks: true if another app makes it")


def _names(app: StreamApp) -> Iterator[Problem]:
    """Names that two things would be kept under."""
    tables = {table.name for table in app.spec.tables}
    for index, operator in enumerate(app.spec.operators):
        path, traits = f"spec.operators[{index}].name", traits_of(operator)
        if traits.keeps_state and operator.name in tables:
            message = f'a table is called "{operator.name}" too, and both keep state under their name; '
            yield _invalid(path, f"{message}give one of them another")
        if traits.makes_stream and operator.name == CHECKPOINT:
            message = "the stream of that name holds the app's checkpoints; give the operator another"
            yield _invalid(path, message)


def _dead_letters(app: StreamApp) -> Iterator[Problem]:
    for name, policy in (("onBadRecord", app.spec.on_bad_record), ("onCodeError", app.spec.on_code_error)):
        path = f"spec.{name}.stream"
        if policy.action == "deadLetter" and policy.stream is None:
            yield _invalid(path, "missing; name the stream that takes bad records")
        if policy.stream is not None:
            yield from _aside(app, path, policy.stream, "bad records")


def _late_rows(app: StreamApp) -> Iterator[Problem]:
    late, path = app.spec.late_rows, "spec.lateRows.stream"
    if late.action == "stream" and late.stream is None:
        yield _invalid(path, "missing; name the stream that takes late rows")
    if late.stream is not None:
        yield from _aside(app, path, late.stream, "late rows")


def _aside(app: StreamApp, path: str, name: str, rows: str) -> Iterator[Problem]:
    """The stream that takes rows which were left out: written as JSON, and not read by the app."""
    stream = app.spec.stream(name)
    if name in table_streams(app):
        yield _invalid(path, f'{rows} are written as json, and "{name}" is a table; name a stream')
    if stream.format != "json":
        message = f'{rows} are written as json; "{stream.name}" is {stream.format}'
        yield _invalid(path, f"{message}; name a stream of json")
    if stream.needs_registry:
        message = f'{rows} are written without a schema; "{stream.name}" has a registry'
        yield _invalid(path, f"{message}; name a stream of json without one")
    if stream.name in input_streams(app):
        message = f'the app reads "{stream.name}", and would read its own {rows}; name another stream'
        yield _invalid(path, message, Reason.INVALID_GRAPH)


def _emit(app: StreamApp) -> Iterator[Problem]:
    for index, operator in enumerate(app.spec.operators):
        body = operator.body
        if isinstance(body, Aggregate) and body.emit == "onWatermark" and body.window is None:
            message = "running totals have no end that a watermark could pass; say onUpdate, or a window"
            yield _invalid(f"spec.operators[{index}].aggregate.emit", message)


def _avro(app: StreamApp) -> Iterator[Problem]:
    """Schemas that no record is read or written by."""
    for index, stream in enumerate(app.spec.streams):
        path, metadata = f"spec.streams[{index}]", stream.metadata
        if stream.avro_schema is not None:
            if stream.format != "avro":
                mend = "leave one of them out, or say format: avro"
                yield _of_other_format(f"{path}.avroSchema", stream, "avro", mend)
            yield from _no_json(f"{path}.avroSchema", stream.avro_schema)
        if metadata is not None and metadata.key_avro_schema is not None:
            path = f"{path}.metadata.keyAvroSchema"
            if metadata.key_format != "avro":
                yield _invalid(path, "goes with keyFormat: avro only; leave it out")
            yield from _no_json(path, metadata.key_avro_schema)


def _no_json(path: str, schema: str) -> Iterator[Problem]:
    try:
        json.loads(schema)
    except json.JSONDecodeError as error:
        message = f"is no JSON: {error.msg} at character {error.pos + 1}"
        yield _invalid(path, f"{message}; give the schema as it stands in an .avsc file")


def _systems_with_registry(app: StreamApp) -> set[str]:
    return {system.name for system in app.spec.systems if system.kafka and system.kafka.schema_registry}


def _registry(app: StreamApp) -> Iterator[Problem]:
    """Streams whose schemas nobody has, or that cannot be read or written by them."""
    with_registry = _systems_with_registry(app)
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}].registry"
        if not stream.registry:
            if stream.format == "protobuf":
                yield _invalid(path, "missing; the schemas of protobuf are in a registry: say registry: true")
            continue
        if stream.format not in WITH_REGISTRY:
            formats = "avro, protobuf, json and debezium"
            yield _of_other_format(path, stream, formats, "leave one of them out, or say format: avro")
        elif stream.carries_watermarks:
            yield _invalid(path, "an app writes its intermediate streams without a registry; leave it out")
        elif stream.system not in with_registry:
            message = f'the system "{stream.system}" has no schema registry; say kafka.schemaRegistry there'
            yield _invalid(path, message)


def _writer_schemas(app: StreamApp) -> Iterator[Problem]:
    """Schemas to write by that cannot be found, or that nothing is written by."""
    for index, stream in enumerate(app.spec.streams):
        path, writer, metadata = f"spec.streams[{index}].writerSchema", stream.writer_schema, stream.metadata
        if writer is not None and not stream.registry:
            yield _invalid(path, "goes with registry only; leave it out, or say registry: true")
        elif writer is not None:
            yield from _subject(writer, path, stream.format, "avroSchema", stream.avro_schema)
        if metadata is not None and (of_keys := metadata.key_writer_schema) is not None:
            path = f"spec.streams[{index}].metadata.keyWriterSchema"
            if not stream.has_registered_keys:
                yield _invalid(path, "goes with keyFormat: avro, protobuf or json; leave it out")
            elif stream.name not in written_streams(app):
                yield _invalid(path, f'the app does not write "{stream.name}"; leave it out')
            else:
                own = metadata.key_avro_schema
                yield from _subject(of_keys, path, metadata.key_format, "keyAvroSchema", own)


def _subject(writer: WriterSchema, path: str, form: str, field: str, schema: str | None) -> Iterator[Problem]:
    """A subject that has no name, or a schema that is named twice."""
    if writer.id is not None and (writer.auto_register or writer.subject != "topic"):
        yield _invalid(f"{path}.id", "says which schema it is; leave subject and autoRegister out, or id")
    elif writer.subject != "topic" and schema is None:
        message = f"{writer.subject} is named after a record; give {field}, which has its name"
        if form != "avro":
            message = f"{writer.subject} goes with avro only; the format is {form}; say id"
        yield _invalid(f"{path}.subject", message)


def _table_systems(app: StreamApp) -> Iterator[Problem]:
    """A home of tables, in which no stream can be made."""
    for index, system in enumerate(app.spec.systems):
        if system.has_tables and system is app.spec.home:
            message = "holds tables, and the app keeps its checkpoints in streams; add a system with kafka or"
            yield _invalid(f"spec.systems[{index}].{system.kind}", f"{message} embedded")


def _tables(app: StreamApp) -> Iterator[Problem]:
    """Tables that are asked for what only streams have, and the other way round."""
    tables, read = table_streams(app), input_streams(app)
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}]"
        if stream.name not in tables:
            if stream.primary_key:
                message = (
                    f'the system "{stream.system}" has streams, and primaryKey is of tables; leave it out'
                )
                yield _invalid(f"{path}.primaryKey", message)
            if stream.partitions is not None:
                message = "its system has the count; a partitionBy says that of the stream it makes"
                yield _invalid(f"{path}.partitions", message)
            if stream.refresh is not None:
                message = (
                    f'the system "{stream.system}" has streams, which are read on by themselves; leave it out'
                )
                yield _invalid(f"{path}.refresh", message)
            continue
        if stream.name in read:
            yield from _imported(app, stream, path)
        else:
            for field in ("partitions", "refresh"):
                if getattr(stream, field) is not None:
                    message = "is of tables that are read, and this one is only written; leave it out"
                    yield _invalid(f"{path}.{field}", message)
        if stream.format != "json":
            yield _invalid(f"{path}.format", "a table has no format; leave it out")
        yield from _table_columns(stream, path)


def _rows_of_tables(app: StreamApp) -> Iterator[Problem]:
    """Rows for tables that are only read, and with parts that only records have."""
    systems, tables = {system.name: system for system in app.spec.systems}, table_streams(app)
    for index, operator in enumerate(app.spec.operators):
        send, path = operator.send_to, f"spec.operators[{index}].sendTo"
        if send is None or send.stream not in tables:
            continue
        if systems[app.spec.stream(send.stream).system].kind in ONLY_READ:
            message = f'"{send.stream}" is files, which are only read and have no transactions; use delta'
            yield _invalid(f"{path}.stream", message, Reason.INVALID_GRAPH)
        for field in ("timestamp", "headers"):
            if getattr(send, field) is not None:
                message = (
                    f'"{send.stream}" is a table, and rows have no {field}; make it a column of the rows'
                )
                yield _invalid(f"{path}.{field}", message)


def _imported(app: StreamApp, stream: Stream, path: str) -> Iterator[Problem]:
    """Tables that cannot be read before the first batch, and what only records have."""
    system = next(system for system in app.spec.systems if system.name == stream.system)
    if system.kind in ONLY_WRITTEN:
        message = "is a table, and tables of such a system are only written to; read it from a stream"
        yield _invalid(f"{path}.system", message, Reason.INVALID_GRAPH)
    if stream.name in written_streams(app):
        message = "the app writes this table, and reads it before the first batch; declare two streams of it"
        yield _invalid(f"{path}.system", message, Reason.INVALID_GRAPH)
    inputs = main_inputs(app)
    if app.spec.mode == "stream" and stream.name in inputs and inputs <= table_streams(app):
        message = "is a table, as all inputs of the app are, and gets no later rows; say mode: batch, "
        yield _invalid(f"{path}.system", f"{message}or fill a table with it", Reason.INVALID_GRAPH)
    for place, table in enumerate(app.spec.tables):
        for number, side in enumerate(table.side_inputs):
            if side.stream == stream.name and side.versions != "none":
                message = f'nothing ends a version of "{stream.name}", which is a table; leave it out'
                yield _invalid(f"spec.tables[{place}].sideInputs[{number}].versions", message)
    if stream.refresh is not None and app.spec.mode == "batch":
        message = "a batch app reads a table once, before its first batch; leave it out, or say mode: stream"
        yield _invalid(f"{path}.refresh", message)
    if stream.refresh is not None and stream.name in inputs:
        message = "only tables are filled anew, and rows of this one are an input; declare two streams of it"
        yield _invalid(f"{path}.refresh", message)
    of_records = {
        "primaryKey": bool(stream.primary_key),
        "metadata": stream.metadata is not None,
        "start": stream.start != "earliest",
        "after": stream.after is not None,
        "carriesWatermarks": stream.carries_watermarks,
    }
    for field, is_said in of_records.items():
        if is_said:
            yield _invalid(f"{path}.{field}", "a table that is read has none; leave it out")


def _histories(app: StreamApp) -> Iterator[Problem]:
    """Streams that wait for a stream which never ends, or is none."""
    inputs, tables = main_inputs(app), table_streams(app)
    followers: dict[str, str] = {}
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}].after"
        if stream.after is None or stream.name in tables:
            continue
        if stream.name not in inputs:
            yield _invalid(path, "goes with inputs of operators, which this is not; leave it out")
        elif stream.after not in inputs:
            mend = nearest(stream.after, sorted(inputs & tables))
            yield _invalid(
                path, f'no operator reads a table "{short(stream.after)}"{mend}; merge it with this'
            )
        elif stream.after not in tables:
            message = f'"{stream.after}" is no table, and has no end; leave it out'
            yield _invalid(path, message)
        elif stream.after in followers:
            message = (
                f'"{followers[stream.after]}" comes after it already; declare another stream of the table'
            )
            yield _invalid(path, message)
        else:
            followers[stream.after] = stream.name


def _table_columns(stream: Stream, path: str) -> Iterator[Problem]:
    """Columns that a table needs, and those by which its rows are told apart."""
    if stream.columns is None:
        yield _invalid(f"{path}.columns", "missing; a table is written and read by the columns of its stream")
        return
    names = [column.name for column in parse_columns(stream.columns)]
    for number, name in enumerate(stream.primary_key):
        if name not in names:
            message = f'there is no column "{short(name)}"{nearest(name, names)}'
            yield _invalid(f"{path}.primaryKey[{number}]", message)


def _timestamps(app: StreamApp) -> Iterator[Problem]:
    """Numbers for times in a format that has times of its own."""
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}].timestamps"
        if stream.timestamps != "text" and stream.format not in WITH_TIMES_AS_NUMBERS:
            yield _of_other_format(path, stream, "json and debezium", "leave it out")
        elif stream.timestamps in TIMES_OF_DEBEZIUM and stream.format != "debezium":
            yield _invalid(path, f"{stream.timestamps} goes with debezium only; say microseconds, or text")
        elif stream.timestamps != "text" and stream.carries_watermarks:
            message = "an app writes its intermediate streams with times as text; leave it out"
            yield _invalid(path, message)


def _strict(app: StreamApp) -> Iterator[Problem]:
    """Unknown fields in a format whose records have exactly the columns, or an envelope around them."""
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}].strict"
        if stream.strict and stream.format != "json":
            yield _of_other_format(path, stream, "json", "leave it out")
        elif stream.strict and stream.carries_watermarks:
            yield _invalid(path, "an app writes its intermediate streams as they are; leave it out")


def _debezium(app: StreamApp) -> Iterator[Problem]:
    """Changes of which nothing says what their values are, and what is of no other format."""
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}]"
        if stream.format != "debezium":
            fields = {"decimals": stream.decimals is not None, "flattened": stream.flattened}
            for field, is_said in fields.items():
                if is_said:
                    yield _of_other_format(f"{path}.{field}", stream, "debezium", "leave it out")
            continue
        if stream.registry:
            fields = {"decimals": stream.decimals is not None, "timestamps": stream.timestamps != "text"}
            for field, is_said in fields.items():
                if is_said:
                    yield _invalid(f"{path}.{field}", "is said by the registered schemas; leave it out")
            continue
        types = " ".join(column.type for column in parse_columns(stream.columns or ""))
        if stream.timestamps == "seconds":
            message = "Debezium has times in milliseconds, microseconds and nanoseconds; say one of these"
            yield _invalid(f"{path}.timestamps", message)
        elif stream.timestamps == "text" and _local_time.search(types):
            message = (
                "missing; Debezium has times without a zone as numbers: say microseconds, milliseconds or "
                "nanoseconds, or isostring"
            )
            yield _invalid(f"{path}.timestamps", f"{message}, as the connector's time.precision.mode")
        if stream.decimals is None and _decimal.search(types):
            message = "missing; say base64 where the connector's decimal.handling.mode is precise, else text"
            yield _invalid(f"{path}.decimals", message)


def _csv(app: StreamApp) -> Iterator[Problem]:
    """Signs of CSV that cannot be told apart, or are of no CSV."""
    for index, stream in enumerate(app.spec.streams):
        path, signs = f"spec.streams[{index}].csv", stream.csv
        if signs is not None and stream.format != "csv":
            yield _of_other_format(path, stream, "csv", "leave one of them out, or say format: csv")
        elif signs is not None:
            yield from _signs(signs, path)
    for index, system in enumerate(app.spec.systems):
        path, files = f"spec.systems[{index}].files.csv", system.files
        if files is not None and files.csv is not None and files.format != "csv":
            yield _invalid(path, f"goes with csv only; the format is {files.format}; leave one of them out")
        elif files is not None and files.csv is not None:
            yield from _signs(files.csv, path)


def _signs(signs: CsvSigns, path: str) -> Iterator[Problem]:
    if signs.delimiter == signs.quote:
        yield _invalid(f"{path}.quote", "is the delimiter too; say another character for one of them")
    elif signs.delimiter in signs.null_text or signs.quote in signs.null_text:
        yield _invalid(f"{path}.nullText", "has the delimiter or the quote in it; say another text")


def _read_only(app: StreamApp) -> Iterator[Problem]:
    """Outputs of a format that is only read."""
    for index, operator in enumerate(app.spec.operators):
        send = operator.send_to
        stream = app.spec.stream(send.stream) if send is not None else None
        if stream is not None and stream.format in READ_ONLY:
            message = f'"{stream.name}" is {stream.format}, which is only read; write to a stream of json'
            yield _invalid(f"spec.operators[{index}].sendTo.stream", message)


def _metadata(app: StreamApp) -> Iterator[Problem]:
    """Columns of records that nobody reads."""
    read, written = input_streams(app), written_streams(app)
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}].metadata"
        if stream.metadata is None:
            continue
        keys_written = stream.has_registered_keys and stream.name in written
        if stream.name not in read and (stream.metadata.columns or not keys_written):
            of = "only the form of keys is of records that are written" if keys_written else "leave it out"
            message = f'the app does not read "{stream.name}", and metadata is of records that are read'
            yield _invalid(path, f"{message}; {of}")
        elif stream.has_registered_keys:
            yield from _registered_keys(app, stream, path)
        elif stream.metadata.key_columns is not None:
            message = "goes with keys of a registry; say keyFormat: avro, protobuf or json, or leave it out"
            yield _invalid(f"{path}.keyColumns", message)
        elif stream.metadata.key is None and stream.metadata.key_format != "bytes":
            message = "goes with key only; name a column for the key, or leave it out"
            yield _invalid(f"{path}.keyFormat", message)


def _registered_keys(app: StreamApp, stream: Stream, path: str) -> Iterator[Problem]:
    """Keys of a registry that cannot be read, or that nothing of is read."""
    field = f"{path}.keyFormat"
    if stream.format == "debezium":
        yield _invalid(field, "keys of changes are read by themselves; leave it out")
    elif stream.carries_watermarks:
        yield _invalid(field, "an app writes its intermediate streams without a registry; leave it out")
    elif stream.system not in _systems_with_registry(app):
        message = f'the system "{stream.system}" has no schema registry; say kafka.schemaRegistry there'
        yield _invalid(field, message)
    columns = stream.metadata.key_columns if stream.metadata else None
    if columns is None and not stream.key_is_decoded:
        message = "missing; nothing says what keys hold: name their columns, or the key column of the values"
        yield _invalid(f"{path}.keyColumns", message)
    elif columns is not None and stream.key_is_decoded:
        names = [column.name for column in parse_columns(columns)]
        if [name.lower() for name in names] != [(stream.key or "").lower()]:
            message = f'are {", ".join(names)}, and the key is "{stream.key}"'
            mend = "name a column for keys as they are (metadata.key), and say that one as key of the stream"
            yield _invalid(f"{path}.keyColumns", f"{message}; {mend}")


def _watermarks(app: StreamApp) -> Iterator[Problem]:
    """Streams of other apps tell themselves how far they have come."""
    for index, stream in enumerate(app.spec.streams):
        path = f"spec.streams[{index}]"
        if stream.carries_watermarks and stream.event_time is not None:
            message = "the stream carries the other app's watermarks; "
            yield _invalid(f"{path}.eventTime", f"{message}leave eventTime or carriesWatermarks out")
        if stream.carries_watermarks and stream.format != "json":
            message = "an app writes its intermediate streams as json; leave format or carriesWatermarks out"
            yield _invalid(f"{path}.format", message)


def _event_times(app: StreamApp) -> Iterator[Problem]:
    """Operators that wait for a watermark which none of their streams will ever have."""
    if app.spec.mode != "stream":
        return
    timed_sources = _timed_sources(app)
    for index, operator in enumerate(app.spec.operators):
        body = operator.body
        if isinstance(body, Aggregate) and body.window is not None and body.emit != "onUpdate":
            waiting = "its windows go out when the watermark passes them"
        elif isinstance(body, Join) and body.type != "inner" and body.time == "event":
            waiting = (
                f"a {body.type} join by event time gives rows without a partner when the watermark passes"
            )
        else:
            continue
        if timed_sources.isdisjoint(operator.sources):
            message = f"{waiting}, and none of the streams that reach it has event times; "
            path = f"spec.operators[{index}].{operator.kind}"
            yield _invalid(path, f"{message}give a stream eventTime, or say mode: batch")


def _timed_sources(app: StreamApp) -> set[str]:
    """The streams and operators whose rows come with watermarks. A stream that is fed back has none."""
    timed_sources = {
        stream.name
        for stream in app.spec.streams
        if not stream.feedback and (stream.event_time is not None or stream.carries_watermarks)
    }
    known_sources = 0
    while known_sources < len(timed_sources):
        known_sources = len(timed_sources)
        for operator in app.spec.operators:
            if not timed_sources.isdisjoint(operator.sources):
                timed_sources.add(operator.name)
    return timed_sources


RULES: tuple[Callable[[StreamApp], Iterator[Problem]], ...] = (
    _visibility,
    _versions,
    _late_rows,
    _emit,
    _avro,
    _registry,
    _writer_schemas,
    _table_systems,
    _tables,
    _rows_of_tables,
    _histories,
    _timestamps,
    _strict,
    _debezium,
    _csv,
    _read_only,
    _metadata,
    _watermarks,
    _names,
    _dead_letters,
    _event_times,
)
