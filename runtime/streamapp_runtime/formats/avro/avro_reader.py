"""The reading of a batch of Avro records that have one writer's schema."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from streamapp_runtime.formats.avro.schema_resolution import Schema, SchemaResolution, linked_schema
from streamapp_runtime.formats.avro.wire_types import WireRecord
from streamapp_runtime.formats.read_records import ReadRecords, good_records
from streamapp_runtime.formats.record_cursor import RecordCursor, padded
from streamapp_runtime.rows.row_form import Bytes, Positions


@dataclass(frozen=True, slots=True)
class AvroReader:
    """A writer's schema, resolved to the columns of a stream."""

    record: WireRecord
    schema: pa.Schema
    required: Sequence[str]

    @classmethod
    def resolve(
        cls,
        writer: Schema,
        schema: pa.Schema,
        required: Sequence[str],
        *,
        dependencies: Sequence[Schema] = (),
        reader: Schema | None = None,
    ) -> Self:
        """The reader of a schema, given as JSON says it, that may name types of those it depends on.

        Errors are an UnresolvableSchemaError, or of fastavro where it is no schema.
        """
        parsed, named = linked_schema(writer, dependencies)
        return cls(SchemaResolution(named).record(parsed, schema, reader), schema, required)

    def read(self, data: Bytes, starts: Positions, ends: Positions) -> ReadRecords:
        """The records between these places of the bytes; a record that has a fault costs no other one."""
        cursor = RecordCursor(padded(data), starts, ends)
        columns = self.record.columns(cursor, np.arange(len(cursor)))
        cursor.finish()
        return good_records(columns, self.schema, self.required, cursor.faults)
