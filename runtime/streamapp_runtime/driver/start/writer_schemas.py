"""The schemas by which streams that have a registry are written, asked for before the first row."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import fastavro
import pyarrow as pa

from streamapp.author.problems import field_path
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import RecordMetadata, Stream, WriterSchema
from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.format_names import READ_ONLY
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.avro.schema_resolution import Schema, type_name
from streamapp_runtime.formats.debezium.registered_changes import CHANGE_KINDS, change_writer
from streamapp_runtime.formats.debezium.written_changes import change_columns
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema, options_of
from streamapp_runtime.formats.registered_keys import KEY_KINDS, RegisteredKeys
from streamapp_runtime.formats.registry.registry_format import RegisteredKind
from streamapp_runtime.formats.row_writer import RowWriter
from streamapp_runtime.formats.stream_format import REGISTERED_KINDS, open_format
from streamapp_runtime.operators.stateless.stream_operations import MADE_BY_APP, Write
from streamapp_runtime.program.program import PlacedOperation
from streamapp_runtime.registered_schema import (
    UnknownSchemaError,
    UnresolvableSchemaError,
    WritableSchemas,
)
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.kafka.schema_registry.registry_subjects import IncompatibleSchemaError

_NEWEST: Final = WriterSchema()


class WriterSchemaRefusedError(ValueError):
    """The registry has no schema by which rows of a stream are written; by the stream's field: why."""

    def __init__(self, refusals: Mapping[str, str]) -> None:
        super().__init__("; ".join(refusals.values()))
        self.refusals = refusals


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """The values, or the keys, of the records of a stream, and what the resource says of their schema."""

    kinds: Mapping[str, RegisteredKind]  # by their names; a schema of its own is of the first
    subject: str
    asked: WriterSchema
    own: str | None  # the schema that the resource has
    of_keys: bool

    @property
    def kind(self) -> RegisteredKind:
        """The kind of a schema that the registry does not have."""
        return next(iter(self.kinds.values()))

    @classmethod
    def values(cls, stream: Stream) -> Self:
        """The values of a stream with a registry."""
        asked, own = stream.writer_schema or _NEWEST, stream.avro_schema
        if stream.format in READ_ONLY:
            return cls(CHANGE_KINDS, subject_of(stream), asked, own, of_keys=False)
        kind = REGISTERED_KINDS[stream.format]
        return cls({kind.name: kind}, subject_of(stream), asked, own, of_keys=False)

    @classmethod
    def keys(cls, stream: Stream, metadata: RecordMetadata) -> Self:
        """The keys of a stream that are those of a registry."""
        asked, own = metadata.key_writer_schema or _NEWEST, metadata.key_avro_schema
        kind, subject = KEY_KINDS[metadata.key_format], key_subject_of(stream)
        return cls({kind.name: kind}, subject, asked, own, of_keys=True)

    def resolved(self, columns: Sequence[Column], schemas: WritableSchemas) -> ResolvedWriterSchema:
        """The schema to write by; one of several errors where rows have no place in it."""
        kinds = arrow_schema(columns)
        writer = _resolved(self, kinds, schemas)
        self.kinds[schemas.schema(writer.id).kind].check_writable(kinds, writer)
        return writer


def with_writer_schemas(
    app: StreamApp,
    tasks: Iterable[PlacedOperation],
    options: Mapping[str, FormatOptions],
    systems: Systems,
) -> dict[str, FormatOptions]:
    """The options with the schemas of each such stream; AppRefusedError where none fits the rows.

    Where the registry cannot be asked, the error is that of a system that cannot be reached.
    """
    written, problems = dict(options), list[Problem]()
    for task in tasks:
        operation = task.operation
        if not isinstance(operation, Write) or operation.role in MADE_BY_APP:
            continue
        stream = app.spec.stream(operation.stream)
        if not stream.needs_registry:
            continue
        values = operation.value_columns(task.sources[0].columns)
        schemas, of_stream = systems.schemas(stream.name), written[stream.name]
        try:
            written[stream.name] = with_stream_writers(
                stream, of_stream, values, operation.key_columns, schemas
            )
        except WriterSchemaRefusedError as unwritable:
            path = field_path(app, stream.name)
            problems += [
                Problem(0, 0, f"{path}.{field}", message, Reason.SCHEMA_INCOMPATIBLE)
                for field, message in unwritable.refusals.items()
            ]
    if problems:
        raise AppRefusedError(problems)
    return written


def with_stream_writers(
    stream: Stream,
    options: FormatOptions,
    values: Sequence[Column],
    keys: Sequence[Column],
    schemas: WritableSchemas,
) -> FormatOptions:
    """The options with the schemas by which values and keys of these columns are written.

    Without columns of keys none is asked for that keys are written by. WriterSchemaRefusedError where a part
    has no place in its schema.
    """
    refusals: dict[str, str] = {}
    for part in written_parts(stream):
        if part.of_keys and not keys:
            continue
        try:
            writer = part.resolved(keys if part.of_keys else values, schemas)
        except (UnresolvableSchemaError, IncompatibleSchemaError, UnknownSchemaError) as refused:
            what, field = ("keys", "metadata.keyWriterSchema") if part.of_keys else ("rows", "writerSchema")
            refusals[field] = f'{what} cannot be written to "{stream.name}": {refused}'
            continue
        options = replace(options, key_writer=writer) if part.of_keys else replace(options, writer=writer)
    if refusals:
        raise WriterSchemaRefusedError(refusals)
    return options


def open_row_writer(
    stream: Stream, columns: Sequence[Column], schemas: WritableSchemas | None, *, with_keys: bool = True
) -> RowWriter:
    """The writer of rows that do not come from the app, by the schemas that its own rows are written by.

    Rows have the columns of `keyColumns` behind those of the values, and changes, which are written as such,
    their key column. Without keys none are written that are those of the registry. Without schemas rows are
    written by the stream's format alone.
    """
    if schemas is None:
        return RowWriter(open_format(stream.format, columns, options_of(stream)), None, ())
    stream, has_changes = with_keys_of_changes(stream, schemas), stream.format in READ_ONLY
    options, keys, places = options_of(stream), tuple[Column, ...](), tuple[int, ...]()
    values = change_columns(columns, flattened=stream.flattened) if has_changes else columns
    if with_keys and stream.has_registered_keys:
        keys = options.key_columns or stream.key_column_of(columns)
        every = (*values, *(keys if has_changes else options.key_columns))
        places = tuple(every.index(key) for key in keys)
    options = with_stream_writers(stream, options, values, keys, schemas)
    of_keys = RegisteredKeys(options, keys, schemas) if keys else None
    if has_changes and options.writer is not None:
        form = change_writer(values, options.writer, schemas.schema(options.writer.id).kind)
        return RowWriter(form, of_keys, places)
    return RowWriter(open_format(stream.format, values, options, schemas), of_keys, places)


def with_keys_of_changes(stream: Stream, schemas: WritableSchemas) -> Stream:
    """A stream of changes with the format of the schema that their keys have, if any; others as they are."""
    if not stream.registry or stream.format not in READ_ONLY or stream.key_in_values is None:
        return stream
    newest = schemas.subjects.newest(key_subject_of(stream))
    if newest is None:
        return stream
    kind = schemas.schema(newest).kind
    of_kind = {"key_format": next(name for name, each in KEY_KINDS.items() if each.name == kind)}
    metadata = (stream.metadata or RecordMetadata()).model_copy(update=of_kind)
    return stream.model_copy(update={"metadata": metadata})


def written_parts(stream: Stream) -> Iterator[WrittenPart]:
    """The parts of a stream's records that are written by schemas of a registry."""
    if stream.registry:
        yield WrittenPart.values(stream)
    if stream.metadata is not None and stream.has_registered_keys:
        yield WrittenPart.keys(stream, stream.metadata)


def _resolved(part: WrittenPart, columns: pa.Schema, schemas: WritableSchemas) -> ResolvedWriterSchema:
    """The schema that the stream says, which is registered where it says so."""
    schema_id = part.asked.id
    if schema_id is None:
        if part.asked.auto_register:
            own = part.own or part.kind.own_schema(columns)
            schema_id = schemas.subjects.register(part.subject, own, part.kind.name)
        else:
            schema_id = schemas.subjects.newest(part.subject)
        if schema_id is None:
            raise UnknownSchemaError(
                f'the subject "{part.subject}" has no schema; register one, or say autoRegister: true'
            )
    registered = schemas.schema(schema_id)
    if registered.kind not in part.kinds:
        title = " or ".join(kind.title for kind in part.kinds.values())
        raise UnknownSchemaError(f"schema id {schema_id} is of {registered.kind}; name one of {title}")
    if registered.rules:
        rules = ", ".join(registered.rules)
        raise UnknownSchemaError(f"schema id {schema_id} has rules that writers have to apply: {rules}")
    return ResolvedWriterSchema(schema_id, registered.text, registered.dependencies)


def subject_of(stream: Stream) -> str:
    """The subject of a stream's values, by the strategies of Confluent's clients."""
    return _subject(stream, "value", stream.writer_schema, stream.avro_schema)


def key_subject_of(stream: Stream) -> str:
    """The subject of a stream's keys."""
    metadata = stream.metadata or RecordMetadata()
    return _subject(stream, "key", metadata.key_writer_schema, metadata.key_avro_schema)


def _subject(stream: Stream, part: str, asked: WriterSchema | None, own: str | None) -> str:
    strategy, topic = (asked or _NEWEST).subject, stream.topic or stream.name
    if strategy == "topic" or own is None:
        return f"{topic}-{part}"
    parsed: Schema = fastavro.parse_schema(json.loads(own))
    record = type_name(parsed) if not isinstance(parsed, dict) else str(parsed.get("name", ""))
    return record if strategy == "record" else f"{topic}-{record}"
