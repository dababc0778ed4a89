"""The format of a stream, by the name that the resource calls it."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import UnknownTypeError, arrow_schema
from streamapp_runtime.formats.avro.avro_format import AvroFormat
from streamapp_runtime.formats.columns_format import ColumnsFormat
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.json.json_format import JsonFormat
from streamapp_runtime.formats.plain_format import PlainFormat
from streamapp_runtime.formats.record_format import RecordFormat

DEFAULT_OPTIONS = FormatOptions()
_ONLY = {"bytes": pa.binary(), "string": pa.string()}


class UnfitFormatError(ValueError):
    """The format cannot carry these columns; the message says why, `hint` what would fix it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.message = message
        self.hint = hint


def open_format(
    name: str, columns: Sequence[Column], options: FormatOptions = DEFAULT_OPTIONS
) -> RecordFormat:
    """The format for these columns, with what the stream says of it."""
    try:
        return _opened(name, columns, options)
    except UnknownTypeError as unknown:
        raise UnfitFormatError(str(unknown), "use another type for the column") from None


def _opened(name: str, columns: Sequence[Column], options: FormatOptions) -> RecordFormat:
    if name == "json":
        return JsonFormat(columns, options.timestamps)
    if name == "columns":
        return ColumnsFormat(columns)
    if name == "avro":
        return _avro(columns, options.avro_schema)
    if name in _ONLY:
        kind = _ONLY[name]
        if arrow_schema(columns).types != [kind]:
            raise UnfitFormatError(
                f"the format {name} has one column, the whole value",
                f'write "value {"BINARY" if kind == pa.binary() else "STRING"}"',
            )
        return PlainFormat(columns)
    raise UnfitFormatError(f'there is no format "{name}"', "use json, avro, bytes, string or columns")


def _avro(columns: Sequence[Column], schema: str | None) -> RecordFormat:
    try:
        return AvroFormat(columns, schema)
    except UnknownTypeError:
        raise
    except Exception as wrong:  # the library has no common class for what may be wrong with a schema
        raise UnfitFormatError(f"the Avro schema cannot be used: {wrong}", "fix avroSchema") from None
