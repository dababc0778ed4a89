"""Streams that exist outside the app: what it reads, writes, and fills tables from."""

from typing import Annotated, Literal

from pydantic import Field

from streamapp.spec.resource.base import Part
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.value_types.format_names import FormatName
from streamapp.spec.value_types.scalars import ColumnName, Columns, LongDuration, Name, ShortDuration, Topic


class EventTime(Part):
    """Which column holds the time of a record's event, and how long to wait for stragglers."""

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


class Stream(Part):
    """One stream: its topic, its form, its key."""

    name: Name
    """What operators and tables call it by; shares one namespace with operators."""
    system: Name
    """The system it lives in."""
    topic: Annotated[Topic | None, Effect.REFUSED] = None
    """Its name in that system; the stream's own name when unset."""
    format: FormatName = "json"
    """How values are encoded; `columns` is the embedded log's own Arrow form."""
    columns: Columns | None = None
    """Its columns as a Spark SQL column list; needed wherever an expression reads the stream."""
    key: ColumnName | None = None
    """The column that is the record's key: what producers partition by and tables are keyed by."""
    keys: Annotated[Literal["checked", "unchecked"], Effect.RESTART] = "checked"
    """Whether a record with another key, or in another partition than its key's, is bad where keys matter."""
    avro_schema: Annotated[
        str | None,
        Field(
            max_length=65_536,
            examples=['{"type": "record", "name": "View", "fields": [{"name": "user", "type": "string"}]}'],
        ),
    ] = None
    """The Avro schema as JSON, for `format: avro`."""
    timestamps: Literal["text", "seconds", "milliseconds", "microseconds"] = "text"
    """The form of TIMESTAMP columns in JSON: as ISO 8601, or as whole numbers since 1970 began in UTC."""
    strict: bool = False
    """A field of a JSON record that is no column makes the record bad; else such fields are skipped."""
    event_time: EventTime | None = None
    """When its events happened; without it the stream has no watermark."""
    start: Literal["earliest", "latest"] = "earliest"
    """Where an app without a checkpoint begins to read."""
    carries_watermarks: bool = False
    """The stream is another app's intermediate stream, with its watermarks and its end of stream."""
    feedback: bool = False
    """The app may read here what it writes here: rows go round until an operator drops them."""
