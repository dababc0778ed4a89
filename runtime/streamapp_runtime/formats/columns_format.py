"""The `columns` format: each value is a row in the binary form that tables keep."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.record_format import DecodedBatch, UndecodableError
from streamapp_runtime.formats.required_columns import check_required, required_columns
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
