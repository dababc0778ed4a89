"""The format of a stream, by the name that the resource calls it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, get_args

import pyarrow as pa

from streamapp.spec.resource.streams import CsvSigns
from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.format_names import FormatName
from streamapp_runtime.formats.arrow_types import UnknownTypeError, arrow_schema
from streamapp_runtime.formats.avro.avro_format import AvroFormat
from streamapp_runtime.formats.avro.registered_avro import AVRO
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.csv_format import CsvFormat
from streamapp_runtime.formats.debezium.debezium_format import DebeziumFormat
from streamapp_runtime.formats.debezium.registered_changes import RegisteredChanges
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.json.json_format import JsonFormat
from streamapp_runtime.formats.json.json_spelling import JsonSpelling
from streamapp_runtime.formats.json.registered_json import JSON
from streamapp_runtime.formats.protobuf.registered_protobuf import PROTOBUF
from streamapp_runtime.formats.record_format import DecodedBatch, RecordFormat, UndecodableError
from streamapp_runtime.formats.registry.registry_format import RegisteredKind, RegistryFormat
from streamapp_runtime.formats.required_columns import check_required, required_columns
from streamapp_runtime.registered_schema import SchemaLookup
from streamapp_runtime.rows.row_decoder import decode as decode_rows
from streamapp_runtime.rows.row_encoder import encode as encode_rows


class ColumnsFormat:
    """Values that are rows of exactly these columns: whoever writes and reads them must agree on the list."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.schema = arrow_schema(columns)
        self._required = required_columns(columns)

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value."""
        return decode_around_bad_records(values, self._read)

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The value of each row."""
        return encode_rows(columns, self.schema)

    def _read(self, values: pa.BinaryArray) -> pa.RecordBatch:
        try:
            rows = decode_rows(values, self.schema)
        except ValueError:
            raise UndecodableError("the value is no row of these columns") from None
        return check_required(rows, self._required)


class PlainFormat:
    """Values that are the bytes, or the UTF-8, of the only column."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.schema = arrow_schema(columns)

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The values as they are; for a STRING what is no UTF-8 is bad."""
        return decode_around_bad_records(values, self._read)

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The column as it is; what is null there is an empty value."""
        column = columns.column(0).cast(pa.binary())
        return column.fill_null(b"") if column.null_count else column

    def _read(self, values: pa.BinaryArray) -> pa.RecordBatch:
        try:
            column = values.cast(self.schema.field(0).type)
        except pa.ArrowInvalid:
            raise UndecodableError("the value is no valid UTF-8") from None
        return pa.RecordBatch.from_arrays([column], schema=self.schema)


DEFAULT_OPTIONS = FormatOptions()
_WHOLE_VALUES: Final = {"bytes": pa.binary(), "string": pa.string()}


class UnfitFormatError(ValueError):
    """The format cannot carry these columns; the message says why, `hint` what would fix it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.message = message
        self.hint = hint


def open_format(
    name: str,
    columns: Sequence[Column],
    options: FormatOptions = DEFAULT_OPTIONS,
    schemas: SchemaLookup | None = None,
) -> RecordFormat:
    """The format for these columns, with what the stream says of it.

    `schemas` are those of the registry that the stream has; without them its records cannot be read.
    """
    try:
        opener = FORMATS.get(name)
        if opener is None:
            *others, last = FORMATS
            raise UnfitFormatError(f'there is no format "{name}"', f"use {', '.join(others)} or {last}")
        return opener(name, columns, options, schemas)
    except UnknownTypeError as unknown:
        raise UnfitFormatError(str(unknown), "use another type for the column") from None


def _json(
    _: str, columns: Sequence[Column], options: FormatOptions, schemas: SchemaLookup | None
) -> RecordFormat:
    if options.registry:
        return RegistryFormat(JSON, columns, options, schemas)
    return JsonFormat(columns, options.timestamps, strict=options.strict)


def _avro(
    _: str, columns: Sequence[Column], options: FormatOptions, schemas: SchemaLookup | None
) -> RecordFormat:
    try:
        if options.registry:
            return RegistryFormat(AVRO, columns, options, schemas)
        return AvroFormat(columns, options.avro_schema)
    except UnknownTypeError:
        raise
    except Exception as wrong:  # the library has no common class for what may be wrong with a schema
        raise UnfitFormatError(f"the Avro schema cannot be used: {wrong}", "fix avroSchema") from None


def _protobuf(
    _: str, columns: Sequence[Column], options: FormatOptions, schemas: SchemaLookup | None
) -> RecordFormat:
    if not options.registry:
        raise UnfitFormatError("the format protobuf has its schemas in a registry", "say registry: true")
    return RegistryFormat(PROTOBUF, columns, options, schemas)


def _debezium(
    _: str, columns: Sequence[Column], options: FormatOptions, schemas: SchemaLookup | None
) -> RecordFormat:
    if options.registry:
        return RegisteredChanges(columns, options.key, schemas, flattened=options.flattened)
    # Debezium gives a zone to texts alone, and so a number to times without one.
    dates: Literal["isostring", "days"] = "isostring" if options.timestamps == "isostring" else "days"
    spelling = JsonSpelling(local_timestamps=options.timestamps, dates=dates, decimals=options.decimals)
    return DebeziumFormat(columns, options.key, spelling, flattened=options.flattened)


def _csv(_: str, columns: Sequence[Column], options: FormatOptions, __: SchemaLookup | None) -> RecordFormat:
    return CsvFormat(columns, options.csv or CsvSigns())


def _plain(name: str, columns: Sequence[Column], _: FormatOptions, __: SchemaLookup | None) -> RecordFormat:
    kind = _WHOLE_VALUES[name]
    if arrow_schema(columns).types != [kind]:
        raise UnfitFormatError(
            f"the format {name} has one column, the whole value",
            f'write "value {"BINARY" if kind == pa.binary() else "STRING"}"',
        )
    return PlainFormat(columns)


def _columns(_: str, columns: Sequence[Column], __: FormatOptions, ___: SchemaLookup | None) -> RecordFormat:
    return ColumnsFormat(columns)


REGISTERED_KINDS: Final[Mapping[str, RegisteredKind]] = {each.format: each for each in (AVRO, PROTOBUF, JSON)}
"""The formats of streams that may have a registry."""

_Opener = Callable[[str, Sequence[Column], FormatOptions, SchemaLookup | None], RecordFormat]
FORMATS: Final[Mapping[str, _Opener]] = {
    "json": _json,
    "avro": _avro,
    "protobuf": _protobuf,
    "debezium": _debezium,
    "csv": _csv,
    "bytes": _plain,
    "string": _plain,
    "columns": _columns,
}
if FORMATS.keys() != set(get_args(FormatName)):
    raise AssertionError("each format of the resource has its row")
