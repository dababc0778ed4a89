"""The options of a stream's format, beside the format's name."""

from dataclasses import dataclass
from typing import Literal

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.registered_schema import SchemaDependency

TimestampForm = Literal["text", "seconds", "milliseconds", "microseconds"]


@dataclass(frozen=True, slots=True)
class ResolvedWriterSchema:
    """The schema of a registry that records are written by."""

    id: int
    text: str
    dependencies: tuple[SchemaDependency, ...] = ()


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """The options of one stream; each goes with one format."""

    avro_schema: str | None = None  # as JSON
    registry: bool = False  # each record says the id of its schema
    writer: ResolvedWriterSchema | None = None  # known once the registry was asked
    timestamps: TimestampForm = "text"  # in JSON
    strict: bool = False  # in JSON: a field that is no column makes a record bad


def format_options(app: StreamApp) -> dict[str, FormatOptions]:
    """The options by stream, of those that have any."""
    options = {
        stream.name: FormatOptions(
            stream.avro_schema, stream.registry, timestamps=stream.timestamps, strict=stream.strict
        )
        for stream in app.spec.streams
    }
    return {name: each for name, each in options.items() if each != FormatOptions()}
