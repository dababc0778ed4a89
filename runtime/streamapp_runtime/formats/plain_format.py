"""Values as they are: a stream of one BINARY or one STRING column, which is the whole value."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.record_format import DecodedBatch, UndecodableError


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
