"""The difference between the columns of a stream and the schemas that are registered for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa

from streamapp.spec.resource.streams import RecordMetadata, Stream
from streamapp.spec.value_types.column_list import Column, parse_columns, quote
from streamapp_runtime.formats.arrow_types import arrow_schema, spark_type
from streamapp_runtime.formats.debezium.change_rows import AFTER
from streamapp_runtime.formats.debezium.registered_changes import CHANGE_KINDS, RegisteredChanges
from streamapp_runtime.formats.format_options import options_of
from streamapp_runtime.formats.registered_keys import key_format
from streamapp_runtime.formats.registry.registry_format import RegisteredKind, RegistryFormat, SchemaColumns
from streamapp_runtime.formats.stream_format import DEFAULT_OPTIONS, REGISTERED_KINDS, open_format
from streamapp_runtime.registered_schema import RegisteredSchema, UnresolvableSchemaError

_KINDS: Final[Mapping[str, RegisteredKind]] = {kind.name: kind for kind in REGISTERED_KINDS.values()}


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """The difference for one stream; each text names a column, those of `refused` a version."""

    stream: str
    subject: str
    versions: Sequence[int]
    new: Sequence[str]  # of the newest schema: the columns that its other fields would have
    missing: Sequence[str]  # the columns that it has no field for
    types: Sequence[str]  # the columns of another type than its field
    refused: Sequence[str]  # the reasons for which records of a version cannot be read as the columns

    def lines(self) -> list[str]:
        """The text of it, a line for each difference."""
        labelled = {"new": self.new, "missing": self.missing, "type": self.types, "refused": self.refused}
        lines = [f"  {label:<8} {text}" for label, texts in labelled.items() for text in texts]
        first, last = self.versions[0], self.versions[-1]
        versions = f"version {last}" if first == last else f"versions {first} to {last}"
        return [f"{self.stream}: {self.subject}, {versions}", *(lines or ["  no difference"])]


def stream_columns(schema: RegisteredSchema, stream: Stream) -> SchemaColumns:
    """The columns of a stream whose records have a schema: of changes those of the table."""
    record = schema_columns(schema, CHANGE_KINDS if stream.format == "debezium" else _KINDS)
    if stream.format != "debezium" or stream.flattened:
        return record
    place = record.columns.get_field_index(AFTER)
    if place < 0 or not pa.types.is_struct(record.columns.types[place]):
        raise UnresolvableSchemaError(AFTER, "a change has the row there; flattened: true is for rows alone")
    paths = {path.removeprefix(f"{AFTER}."): reason for path, reason in record.left_out.items()}
    inside = {path: reason for path, reason in paths.items() if path not in record.left_out}
    return SchemaColumns(pa.schema(list(record.columns.types[place])), inside)


def schema_columns(schema: RegisteredSchema, kinds: Mapping[str, RegisteredKind] = _KINDS) -> SchemaColumns:
    """The columns of a schema; UnresolvableSchemaError where its records cannot be read at all."""
    kind = kinds.get(schema.kind)
    if kind is None:
        raise UnresolvableSchemaError("", f"the schema is of {schema.kind}, which no format reads")
    refusal = RegistryFormat(kind, (), DEFAULT_OPTIONS, None).resolved(schema, "the schema")
    if isinstance(refusal, str):
        raise UnresolvableSchemaError("", refusal)
    return kind.columns(schema)


def schema_difference(
    stream: Stream, subject: str, registered: Mapping[int, RegisteredSchema]
) -> SchemaDifference:
    """The difference between a stream's columns and the versions of a subject, the newest last."""
    own = parse_columns(stream.columns) if stream.columns else ()
    refusals = [_refusal(stream, own, schema, f"version {version}") for version, schema in registered.items()]
    needs = [column.name for column in own if not column.nullable and stream.avro_schema is None]
    columns_of = partial(stream_columns, stream=stream)
    return _difference(stream.name, subject, registered, own, columns_of, refusals, needs)


def key_difference(
    stream: Stream, subject: str, registered: Mapping[int, RegisteredSchema]
) -> SchemaDifference:
    """The same of the columns in the keys of a stream, and the subject of these."""
    metadata, columns = stream.metadata or RecordMetadata(), parse_columns(stream.columns or "")
    own = parse_columns(metadata.key_columns) if metadata.key_columns else stream.key_column_of(columns)
    reading = key_format([metadata.key_format], own, None, whole=stream.key_is_decoded)
    readers = [reading.resolved(schema, f"version {version}") for version, schema in registered.items()]
    refusals = [reader if isinstance(reader, str) else None for reader in readers]
    needs = [column.name for column in own if not column.nullable]
    return _difference(stream.name, subject, registered, own, schema_columns, refusals, needs)


def _difference(
    stream: str,
    subject: str,
    registered: Mapping[int, RegisteredSchema],
    own: Sequence[Column],
    columns_of: Callable[[RegisteredSchema], SchemaColumns],
    refusals: Sequence[str | None],
    needs: Sequence[str],
) -> SchemaDifference:
    """The difference of columns from those of the newest schema, without some of which none is read."""
    own_types = _types(arrow_schema(own))
    try:
        *_, newest = registered.values()
        types = _types(columns_of(newest).columns)
    except UnresolvableSchemaError:  # it is among those that are refused, or a key that is a value alone
        types = own_types
    return SchemaDifference(
        stream,
        subject,
        list(registered),
        new=[f"{quote(name)} {kind}" for name, kind in types.items() if name not in own_types],
        missing=[f"{name}: the schema has no such field" for name in own_types if name not in types],
        types=[
            f"{name}: {kind}, the schema has {types[name]}"
            for name, kind in own_types.items()
            if types.get(name, kind) != kind
        ],
        refused=[
            *filter(None, refusals),
            *(
                f"version {max(registered)} lacks {name}, which is NOT NULL"
                for name in needs
                if name not in types
            ),
        ],
    )


def _refusal(stream: Stream, own: Sequence[Column], schema: RegisteredSchema, name: str) -> str | None:
    """The reason for which records of a schema are no rows of the stream; None where there is none."""
    reading = open_format(stream.format, own, options_of(stream))
    if not isinstance(reading, RegistryFormat | RegisteredChanges):
        raise TypeError("a format that has no registry")
    reader = reading.resolved(schema, name)
    if isinstance(reader, str):
        return reader
    try:
        stream_columns(schema, stream)
    except UnresolvableSchemaError as unresolvable:
        return f"{name}: {unresolvable}"
    return None


def _types(schema: pa.Schema) -> dict[str, str]:
    return {field.name: spark_type(field.type) for field in schema}
