"""The options of a stream's format, beside the format's name."""

from dataclasses import asdict, dataclass, replace
from typing import Literal

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import CsvSigns, Stream
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp.spec.value_types.format_names import KeyFormat, TimestampForm
from streamapp_runtime.registered_schema import SchemaDependency

DecimalForm = Literal["text", "base64"]


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
    strict: bool = False  # in JSON and in keys: a field that is no column makes a record bad
    decimals: DecimalForm = "text"  # in Debezium's JSON
    flattened: bool = False  # in Debezium's JSON: records are rows, and no changes of rows
    csv: CsvSigns | None = None  # those of CSV, if they are others
    key: str | None = None  # in Debezium's JSON: the column by which rows are told apart
    key_format: KeyFormat | None = None  # where keys say the id of their schema
    key_columns: tuple[Column, ...] = ()  # what is read of such keys; none where it is a column of values
    key_writer: ResolvedWriterSchema | None = None  # of such keys, known once the registry was asked
    key_is_decoded: bool = False  # rows have the value of such a key as their key, and not its bytes


def format_options(app: StreamApp) -> dict[str, FormatOptions]:
    """The options by stream, of those that have any."""
    options = {stream.name: options_of(stream) for stream in app.spec.streams}
    return {name: each for name, each in options.items() if each != FormatOptions()}


def reading_options(options: FormatOptions) -> dict[str, object]:
    """The options that say which rows records hold, of those that are not the usual ones."""
    signs = options.csv.model_dump() if options.csv else None
    values = asdict(replace(options, csv=None, writer=None, key_writer=None)) | {"csv": signs}
    usual = asdict(FormatOptions())
    return {name: value for name, value in values.items() if value != usual[name]}


def row_columns(stream: Stream) -> tuple[Column, ...]:
    """The columns of a stream's rows: those of the values, and behind them those of registered keys."""
    return (*parse_columns(stream.columns or ""), *options_of(stream).key_columns)


def options_of(stream: Stream) -> FormatOptions:
    """The options of a stream."""
    options = FormatOptions(
        stream.avro_schema,
        stream.registry,
        timestamps=stream.timestamps,
        strict=stream.strict,
        decimals=stream.decimals or "text",
        flattened=stream.flattened,
        csv=stream.csv,
        key=stream.key_in_values if stream.format == "debezium" else None,
    )
    metadata = stream.metadata
    if metadata is None or not stream.has_registered_keys:
        return options
    columns = parse_columns(metadata.key_columns) if metadata.key_columns else ()
    return replace(
        options,
        key_format=metadata.key_format,
        key_columns=columns,
        key_is_decoded=stream.key_is_decoded,
    )
