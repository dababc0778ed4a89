"""The reading of a batch of Avro records that have one writer's schema."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import fastavro
import numpy as np
import pyarrow as pa

from streamapp_runtime.formats.avro.record_cursor import RecordCursor
from streamapp_runtime.formats.avro.schema_resolution import Schema, SchemaResolution
from streamapp_runtime.formats.avro.wire_types import WireRecord
from streamapp_runtime.formats.required_columns import MISSING
from streamapp_runtime.rows.byte_columns import null_mask
from streamapp_runtime.rows.row_form import Bytes, Positions


class ReadRecords(NamedTuple):
    """The columns of the good records, the places of these, and the faults of the others."""

    columns: pa.RecordBatch
    places: Positions
    faults: Mapping[int, str]


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
        named: dict[str, Schema] = {}
        for dependency in dependencies:
            fastavro.parse_schema(dependency, named_schemas=named)
        parsed = fastavro.parse_schema(writer, named_schemas=named)
        return cls(SchemaResolution(named).record(parsed, schema, reader), schema, required)

    def read(self, data: Bytes, starts: Positions, ends: Positions) -> ReadRecords:
        """The records between these places of the bytes; a record that has a fault costs no other one."""
        cursor = RecordCursor(data, starts, ends)
        columns = self.record.columns(cursor, np.arange(len(cursor)))
        cursor.finish()
        for name in self.required:
            column = columns[self.schema.get_field_index(name)]
            if column.null_count:
                cursor.refuse(np.flatnonzero(null_mask(column)), f"{name}: {MISSING}")
        rows = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        if not cursor.faults:
            return ReadRecords(rows, np.arange(len(cursor)), {})
        places = np.delete(np.arange(len(cursor)), list(cursor.faults))
        return ReadRecords(rows.take(pa.array(places)), places, cursor.faults)
