"""The Avro format without frames: one schema for all records, known beforehand."""

import json
from collections.abc import Sequence
from typing import Final

import fastavro
import numpy as np
import pyarrow as pa

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.avro.avro_reader import AvroReader
from streamapp_runtime.formats.avro.avro_schema import Schema, avro_schema
from streamapp_runtime.formats.avro.avro_writing import encoded_records
from streamapp_runtime.formats.bad_record_isolation import rows_in_place, without_registry
from streamapp_runtime.formats.record_format import DecodedBatch
from streamapp_runtime.formats.required_columns import MISSING, required_columns
from streamapp_runtime.rows.byte_columns import byte_spans

_NO_RECORD: Final = "no record of the Avro schema: "


class AvroFormat:
    """Records in Avro's binary form without a header; columns and fields meet by name."""

    def __init__(self, columns: Sequence[Column], schema: str | None = None) -> None:
        self.schema = arrow_schema(columns)
        written: Schema = json.loads(schema) if schema else avro_schema(self.schema)
        self._avro = fastavro.parse_schema(written)
        self._reader = AvroReader.resolve(written, self.schema, required_columns(columns))

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value; a column that the schema does not have is null."""
        rows, (bounds, data) = np.flatnonzero(values.is_valid()), byte_spans(values)
        read = self._reader.read(data, bounds[:-1][rows], bounds[1:][rows])
        bad = {
            int(rows[place]): fault if fault.endswith(MISSING) else f"{_NO_RECORD}{fault}"
            for place, fault in read.faults.items()
        }
        columns = rows_in_place([read.columns], [rows[read.places]], len(values))
        return DecodedBatch(columns, without_registry(bad, values))

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The value of each row; ValueError when the schema has no place for it."""
        return encoded_records(columns, self._avro)
