"""The JSON format: what a record must be like to be read, and what is written.

| column | read from | written as |
| --- | --- | --- |
| whole numbers | a number without point and exponent that fits | the digits |
| FLOAT, DOUBLE | any number; NaN, Infinity, -Infinity as names | the shortest digits that give it back |
| DECIMAL | a number or a text, exact: nothing is rounded | a number with all its digits |
| BOOLEAN | true, false | the same |
| STRING | a text of valid UTF-8 | the same |
| BINARY | base64 | the same |
| DATE | `2026-01-31` | the same |
| TIMESTAMP | ISO 8601, UTC where no zone is named, cut to microseconds | `2026-01-31T12:00:00.000000Z` |
| TIMESTAMP_NTZ | the same without a zone | the same without Z |
| ARRAY, STRUCT | a list, an object | the same |
| MAP | an object; numbers, times and the like as names are read as such | the same |

Names are told apart by case. Fields without a column are skipped, unless the stream is
`strict`: then they make the record bad. A missing field is null; in a NOT NULL
column that makes the record bad. So does anything else than one object, a text where a number is expected or
the other way round, and a field that stands twice. A number for a TIMESTAMP is refused because seconds and
milliseconds look alike, unless the stream says with `timestamps` which of these they are: then all are whole
numbers since 1970, but for the names in a MAP, and the years 1 to 9999 are read. A number too large for a
FLOAT is refused, and so is a MAP that has a key twice, be it in two spellings. Times outside the years 0 to
9999 are written, but cannot be read.
"""

from collections.abc import Sequence

import pyarrow as pa

from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.format_names import TimestampForm
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.json.json_reader import JsonReader
from streamapp_runtime.formats.json.json_spelling import JsonSpelling
from streamapp_runtime.formats.json.json_writer import json_records
from streamapp_runtime.formats.json.numbered_times import numbered_times
from streamapp_runtime.formats.record_format import DecodedBatch
from streamapp_runtime.formats.required_columns import required_columns


class JsonFormat:
    """Records that are JSON objects."""

    def __init__(
        self, columns: Sequence[Column], timestamps: TimestampForm = "text", *, strict: bool = False
    ) -> None:
        self._reader = JsonReader(
            arrow_schema(columns), required_columns(columns), JsonSpelling(timestamps), strict=strict
        )
        self._timestamps: TimestampForm = timestamps
        self.schema = self._reader.schema

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value."""
        return decode_around_bad_records(values, self._reader.read)

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The value of each row."""
        return json_records(numbered_times(columns, self._timestamps)).view(pa.binary())
