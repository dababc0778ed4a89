"""The keys of lines that are records of an app's stream, and no JSON objects of its columns."""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.column_list import declared_name, parse_columns
from streamapp.spec.value_types.format_names import FormatName
from streamapp_runtime.formats.format_options import options_of
from streamapp_runtime.formats.record_format import RecordFormat
from streamapp_runtime.formats.stream_format import open_format

_READ_FOR_KEYS: Final[tuple[FormatName, ...]] = ("debezium", "csv")


@dataclass(frozen=True, slots=True)
class LineKeys:
    """The format of a stream's lines, and the column that is their key."""

    form: RecordFormat
    column: str

    def of(self, lines: pa.BinaryArray) -> pa.BinaryArray:
        """The key of each line; null where it does not say it, or is no record."""
        return self.form.decode(lines).keys(self.column)


def line_keys(app: StreamApp, name: str) -> LineKeys | None:
    """The keys of lines of a stream; None where they are fields of JSON objects, or it has no key column."""
    stream = next((one for one in app.spec.streams if one.name == name), None)
    if stream is None or stream.format not in _READ_FOR_KEYS or stream.key_in_values is None:
        return None
    columns = parse_columns(stream.columns or "")
    form = open_format(stream.format, columns, options_of(stream))
    return LineKeys(form, declared_name(columns, stream.key_in_values))
