"""The schemas by which an app writes streams that have a registry, asked for before it starts."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import fastavro
import pyarrow as pa

from streamapp.author.problems import field_path
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import Stream, WriterSchema
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.avro.schema_resolution import Schema, type_name
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.registry.registry_format import RegisteredKind
from streamapp_runtime.formats.stream_format import REGISTERED_KINDS
from streamapp_runtime.operators.stateless.stream_operations import Write
from streamapp_runtime.program.program import PlacedOperation
from streamapp_runtime.registered_schema import UnknownSchemaError, UnresolvableSchemaError
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import RegistrySchemas
from streamapp_runtime.systems.kafka.schema_registry.registry_subjects import IncompatibleSchemaError

_NEWEST: Final = WriterSchema()


def with_writer_schemas(
    app: StreamApp,
    tasks: Iterable[PlacedOperation],
    options: Mapping[str, FormatOptions],
    systems: Systems,
) -> dict[str, FormatOptions]:
    """The options with the schema of each such stream; AppRefusedError where none fits the rows.

    Where the registry cannot be asked, the error is that of a system that cannot be reached.
    """
    written, problems = dict(options), list[Problem]()
    for task in tasks:
        operation = task.operation
        if not isinstance(operation, Write) or not written.get(operation.stream, FormatOptions()).registry:
            continue
        stream = app.spec.stream(operation.stream)
        columns = arrow_schema(operation.value_columns(task.sources[0].columns))
        try:
            kind = REGISTERED_KINDS[stream.format]
            writer = _resolved(stream, kind, columns, systems.schemas(stream.name))
            kind.check_writable(columns, writer)
        except (UnresolvableSchemaError, IncompatibleSchemaError, UnknownSchemaError) as refused:
            message = f'rows cannot be written to "{stream.name}": {refused}'
            path = f"{field_path(app, stream.name)}.writerSchema"
            problems.append(Problem(0, 0, path, message, Reason.SCHEMA_INCOMPATIBLE))
            continue
        written[stream.name] = replace(written[stream.name], writer=writer)
    if problems:
        raise AppRefusedError(problems)
    return written


def _resolved(
    stream: Stream, kind: RegisteredKind, columns: pa.Schema, schemas: RegistrySchemas
) -> ResolvedWriterSchema:
    """The schema that the stream says, which is registered where it says so."""
    asked = stream.writer_schema or _NEWEST
    schema_id = asked.id
    if schema_id is None:
        subject = subject_of(stream)
        if asked.auto_register:
            own = stream.avro_schema or kind.own_schema(columns)
            schema_id = schemas.subjects.register(subject, own, kind.name)
        else:
            schema_id = schemas.subjects.newest(subject)
        if schema_id is None:
            raise UnknownSchemaError(
                f'the subject "{subject}" has no schema; register one, or say autoRegister: true'
            )
    registered = schemas.schema(schema_id)
    if registered.kind != kind.name:
        raise UnknownSchemaError(f"schema id {schema_id} is of {registered.kind}; name one of {kind.title}")
    if registered.rules:
        rules = ", ".join(registered.rules)
        raise UnknownSchemaError(f"schema id {schema_id} has rules that writers have to apply: {rules}")
    return ResolvedWriterSchema(schema_id, registered.text, registered.dependencies)


def subject_of(stream: Stream) -> str:
    """The subject of a stream, by the strategies of Confluent's clients."""
    asked, topic = stream.writer_schema or _NEWEST, stream.topic or stream.name
    if asked.subject == "topic" or stream.avro_schema is None:
        return f"{topic}-value"
    parsed: Schema = fastavro.parse_schema(json.loads(stream.avro_schema))
    record = type_name(parsed) if not isinstance(parsed, dict) else str(parsed.get("name", ""))
    return record if asked.subject == "record" else f"{topic}-{record}"
