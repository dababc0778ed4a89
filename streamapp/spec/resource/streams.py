"""Streams that exist outside the app: what it reads, writes, and fills tables from."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from streamapp.spec.resource.base import Part
from streamapp.spec.resource.field_marks import Crd, Effect
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp.spec.value_types.format_names import (
    ENCODED,
    REGISTERED_KEYS,
    FormatName,
    KeyFormat,
    TimestampForm,
)
from streamapp.spec.value_types.partitioner_names import DEFAULT_PARTITIONER, PartitionerName
from streamapp.spec.value_types.record_fields import FIELD_TYPES, RecordField
from streamapp.spec.value_types.scalars import (
    ONE_LINE,
    SIGN,
    ColumnName,
    Columns,
    LongDuration,
    Name,
    RefreshInterval,
    ShortDuration,
    Topic,
)

AvroSchema = Annotated[
    str,
    Field(
        max_length=65_536,
        examples=['{"type": "record", "name": "View", "fields": [{"name": "user", "type": "string"}]}'],
    ),
]
"""A schema of Avro, as it stands in an .avsc file."""


class EventTime(Part):
    """The column that holds the time of a record's event, and how long to wait for stragglers."""

    column: ColumnName
    """A TIMESTAMP column of the stream, or one of whole numbers with `unit`."""
    unit: Literal["milliseconds", "seconds"] | None = None
    """What a column of whole numbers counts from the beginning of 1970 on, in UTC."""
    delay: ShortDuration = "0s"
    """The watermark stays this far behind the newest event seen."""
    max_ahead: LongDuration = "1d"
    """A record whose event time is further ahead of the clock is a bad record."""
    idle_timeout: ShortDuration | None = None
    """A partition silent for so long no longer holds the watermark back; unset: it always does."""
    idle_quorum: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The share of partitions that must not be idle for the others to be left out."""


class WriterSchema(Part):
    """The schema of the registry that the app writes by: the newest of a subject, or that of an id."""

    subject: Literal["topic", "record", "topicRecord"] = "topic"
    """What the subject is named after; the name of a record is that of `avroSchema`, or `keyAvroSchema`."""
    auto_register: bool = False
    """Register the Avro schema, or a schema of the columns, where the subject does not have it yet."""
    id: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    """Write by the schema of this id."""


class RecordMetadata(Part):
    """The columns that the rows of a stream have of their records, beside those of the values."""

    key: ColumnName | None = None
    """The record's key as it is: a BINARY, or a STRING with `keyFormat: string`."""
    key_format: KeyFormat = "bytes"
    """The form of keys: `string` is UTF-8; `avro`, `protobuf` and `json` stand behind a registry's frame."""
    key_columns: Columns | None = None
    """The columns in keys of the registry; unset: the key column of the values is what keys hold."""
    key_avro_schema: AvroSchema | None = None
    """The Avro schema of keys as JSON, where the app writes them; it may be of a value alone."""
    key_writer_schema: WriterSchema | None = None
    """The schema that the app writes keys of the registry by."""
    timestamp: ColumnName | None = None
    """The record's own time, a TIMESTAMP; `eventTime.column` may name it."""
    partition: ColumnName | None = None
    """The partition it was read from, an INT."""
    offset: ColumnName | None = None
    """Its offset in the partition, a BIGINT."""
    topic: ColumnName | None = None
    """The topic it was read from, a STRING."""
    headers: ColumnName | None = None
    """Its headers, a MAP<STRING, BINARY>; of a name that stands twice the last value."""
    header_list: ColumnName | None = None
    """Its headers in their order, an ARRAY<STRUCT<name: STRING, value: BINARY>>, repeated names too."""

    @property
    def columns(self) -> tuple[tuple[RecordField, Column], ...]:
        """The fields that are named, each with its column, in the order that rows have these in."""
        types = dict(FIELD_TYPES)
        if self.key_format == "string":
            types[RecordField.KEY] = "STRING"
        named = {field.alias or name: getattr(self, name) for name, field in type(self).model_fields.items()}
        return tuple((field, Column(named[field], types[field])) for field in RecordField if named[field])


class CsvSigns(Part):
    """The signs of CSV between fields and around them, and the text of a null."""

    delimiter: Annotated[str, Field(pattern=SIGN, max_length=1, examples=[";"])] = ","
    """The character between two fields."""
    quote: Annotated[str, Field(pattern=SIGN, max_length=1, examples=["'"])] = '"'
    """The character around a field that has special ones; within the field it stands twice."""
    null_text: Annotated[str, Field(pattern=ONE_LINE, max_length=32, examples=["NULL"])] = ""
    """A field of this text without quotes is null."""


class Stream(Part):
    """One stream: its topic, its form, its key."""

    name: Name
    """What operators and tables call it by; shares one namespace with operators."""
    system: Name
    """The system it lives in."""
    topic: Annotated[Topic | None, Effect.REFUSED] = None
    """Its name in that system, of a table also `schema.table`; the stream's own name when unset."""
    format: FormatName = "json"
    """How values are encoded; `columns` is the embedded log's own Arrow form."""
    columns: Columns | None = None
    """Its columns as a Spark SQL column list; needed wherever an expression reads the stream."""
    key: ColumnName | None = None
    """The column that is the record's key: what producers partition by and tables are keyed by."""
    primary_key: Annotated[tuple[ColumnName, ...], Crd({"maxItems": 16})] = ()
    """Of a table: rows replace those with the same values in these columns; unset: each is added."""
    partitions: Annotated[int | None, Field(ge=1, le=100_000), Effect.REFUSED] = None
    """Of a table that is read: into so many its rows are put by their keys; unset: one."""
    refresh: Annotated[RefreshInterval | None, Effect.RESTART] = None
    """Of a table that fills tables: how often a newer version is looked for, which replaces the rows."""
    metadata: RecordMetadata | None = None
    """Columns of what its records have beside their values, for the expressions of this app."""
    keys: Annotated[Literal["checked", "unchecked"], Effect.RESTART] = "checked"
    """Whether a record with another key, or in another partition than its key's, is bad where keys matter."""
    partitioner: Annotated[PartitionerName, Effect.RESTART] = DEFAULT_PARTITIONER
    """The hash by which keys are put into partitions: `crc32` is that of librdkafka's own producers."""
    avro_schema: AvroSchema | None = None
    """The Avro schema as JSON, for `format: avro`; with `registry` its aliases and defaults count."""
    registry: bool = False
    """Records say the id of their schema, which is in the schema registry of the system."""
    writer_schema: WriterSchema | None = None
    """The schema that the app writes by, where it writes a stream with `registry`."""
    timestamps: TimestampForm = "text"
    """The form of TIMESTAMP columns in JSON, of TIMESTAMP_NTZ in debezium: ISO 8601 or numbers since 1970."""
    strict: bool = False
    """A field of a JSON record that is no column makes the record bad; else such fields are skipped."""
    decimals: Literal["text", "base64"] | None = None
    """The form of DECIMAL columns, for `format: debezium`: texts and numbers, or base64 of their bytes."""
    flattened: bool = False
    """For `format: debezium`: records are rows, as the transform ExtractNewRecordState makes them."""
    csv: CsvSigns | None = None
    """Signs other than commas and double quotes, for `format: csv`."""
    event_time: EventTime | None = None
    """When its events happened; without it the stream has no watermark."""
    start: Literal["earliest", "latest"] = "earliest"
    """Where an app without a checkpoint begins to read."""
    after: Annotated[Name | None, Effect.REFUSED] = None
    """A stream of a table that is read to its end first, and merged with this one: its history."""
    carries_watermarks: bool = False
    """The stream is another app's intermediate stream, with its watermarks and its end of stream."""
    feedback: bool = False
    """The app may read here what it writes here: rows go round until an operator drops them."""

    @property
    def key_in_values(self) -> str | None:
        """The key, where it is a column of the values and not only the key of the records."""
        return None if self.key and self.key.lower() in self._key_names else self.key

    @property
    def has_registered_keys(self) -> bool:
        """True if the keys of its records say the id of their schema."""
        return self.metadata is not None and self.metadata.key_format in REGISTERED_KEYS

    @property
    def needs_registry(self) -> bool:
        """True if its values or its keys have schemas of a registry."""
        return bool(self.registry) or self.has_registered_keys

    @property
    def takes_rows(self) -> bool:
        """True if lines of JSON are rows that are encoded: values are no text, or have a registry."""
        return self.needs_registry or self.format in ENCODED

    def key_column_of(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        """The one of these columns that is its key; none where none is."""
        return tuple(column for column in columns if column.name.lower() == (self.key or "").lower())

    @property
    def key_is_decoded(self) -> bool:
        """True if rows have the value of a registered key as their key, and not its bytes."""
        of_records = self.metadata.key if self.metadata else None
        is_raw = self.key is not None and (of_records or "").lower() == self.key.lower()
        return self.has_registered_keys and self.key is not None and not is_raw

    @property
    def _key_names(self) -> set[str]:
        """The columns that hold the record's key, or parts of it, in lower case."""
        if self.metadata is None:
            return set()
        text = self.metadata.key_columns
        names = [column.name for column in parse_columns(text)] if text else []
        return {name.lower() for name in (self.metadata.key, *names) if name}
