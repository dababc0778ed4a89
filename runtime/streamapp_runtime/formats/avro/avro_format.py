"""The Avro format: record by record through fastavro, as nothing reads bare Avro a batch at a time."""

import json
from collections.abc import Sequence
from io import BytesIO

import fastavro
import pyarrow as pa

from streamapp.spec.problem import short
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.avro.avro_schema import avro_schema
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.record_format import DecodedBatch, UndecodableError
from streamapp_runtime.formats.required_columns import check_required, required_columns


class AvroFormat:
    """Records in Avro's binary form without a header; columns and fields meet by name."""

    def __init__(self, columns: Sequence[Column], schema: str | None = None) -> None:
        self.schema = arrow_schema(columns)
        self._required = required_columns(columns)
        self._avro = fastavro.parse_schema(json.loads(schema) if schema else avro_schema(self.schema))

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value; a column that the schema does not have is null."""
        return decode_around_bad_records(values, self._read)

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The value of each row; ValueError when the schema has no place for it."""
        written = []
        for row in columns.to_pylist(maps_as_pydicts="strict"):
            value = BytesIO()
            fastavro.schemaless_writer(value, self._avro, row)
            written.append(value.getvalue())
        return pa.array(written, pa.binary())

    def _read(self, values: pa.BinaryArray) -> pa.RecordBatch:
        rows: list[dict[str, object]] = []
        wrong: dict[int, str] = {}
        for at, value in enumerate(values.to_pylist()):
            try:
                rows.append(self._record(value))
            except Exception as failure:  # on damaged bytes the library raises whatever it stumbled over
                wrong[at] = (
                    f"no record of the Avro schema: {short(str(failure) or type(failure).__name__, 200)}"
                )
        if wrong:
            raise UndecodableError(next(iter(wrong.values())), wrong)
        try:
            columns = pa.RecordBatch.from_pylist(rows, schema=self.schema)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as unfit:
            raise UndecodableError(f"does not fit the columns: {short(str(unfit), 200)}") from None
        return check_required(columns, self._required)

    def _record(self, value: bytes) -> dict[str, object]:
        source = BytesIO(value)
        record = fastavro.schemaless_reader(source, self._avro, None)
        if not isinstance(record, dict):
            raise TypeError("it is no record")
        if source.tell() != len(value):
            raise ValueError(f"{len(value) - source.tell()} bytes are left over")
        return record
