"""JSON as a kind of a registry's schemas.

Records are read as JSON always is: types are those of the columns. A schema is asked for, so that a record
that names none is bad; that the record keeps to it is for its writer to see to.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.json.json_format import JsonFormat
from streamapp_runtime.formats.json.json_schema_columns import schema_columns
from streamapp_runtime.formats.json.json_writer import json_records
from streamapp_runtime.formats.json.numbered_times import numbered_times
from streamapp_runtime.formats.read_records import ReadRecords, SchemaReader
from streamapp_runtime.formats.record_format import DecodedBatch
from streamapp_runtime.formats.registry.registry_format import Encode, Reading, RegisteredKind
from streamapp_runtime.registered_schema import RegisteredSchema, UnresolvableSchemaError
from streamapp_runtime.rows.byte_columns import cut
from streamapp_runtime.rows.row_form import Bytes, Positions

_TYPES: Final[Mapping[pa.DataType, str]] = {
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), "integer"),
    **dict.fromkeys((pa.float32(), pa.float64()), "number"),
    pa.bool_(): "boolean",
}
"""The types of columns that are written neither as texts nor as parts of their own."""


@dataclass(frozen=True, slots=True)
class FramedJson:
    """The records of one schema, which are read as JSON."""

    decode: Callable[[pa.BinaryArray], DecodedBatch]
    field: str = ""  # the one that a record is the value of, where it is no object

    def read(self, data: Bytes, starts: Positions, ends: Positions) -> ReadRecords:
        """The records between these places of the bytes; a record that has a fault costs no other one."""
        records = cut(data, starts, ends)
        if self.field:
            before = f"{{{json.dumps(self.field)}:".encode()
            records = pc.binary_join_element_wise(before, records, b"}", b"")
        decoded = self.decode(records)
        faults = {bad.index: bad.reason for bad in decoded.bad}
        places = np.delete(np.arange(len(starts)), list(faults))
        columns = decoded.columns.take(pa.array(places)) if faults else decoded.columns
        return ReadRecords(columns, places, faults)


def _reading(columns: Sequence[Column], options: FormatOptions) -> Reading:
    form = JsonFormat(columns, options.timestamps, strict=options.strict)

    def resolved(registered: RegisteredSchema) -> FramedJson:
        json.loads(registered.text)
        return FramedJson(form.decode)

    return resolved


def lone_value_reader(columns: Sequence[Column], field: str) -> SchemaReader:
    """The reader of records that are values, and no objects, as the column of this name."""
    return FramedJson(JsonFormat(columns).decode, field)


def _writing(_: ResolvedWriterSchema, frame: bytes, options: FormatOptions) -> Encode:
    def encoded(columns: pa.RecordBatch) -> pa.BinaryArray:
        records = json_records(numbered_times(columns, options.timestamps)).view(pa.binary())
        return pc.binary_join_element_wise(pa.scalar(frame), records, b"")

    return encoded


def own_schema(columns: pa.Schema) -> str:
    """An object of the columns, each of which may be null."""
    return json.dumps({"type": "object", "properties": {each.name: _nullable(each.type) for each in columns}})


def _nullable(kind: pa.DataType) -> dict[str, Any]:
    plain = _plain(kind)
    return {"oneOf": [{"type": "null"}, plain]}


def json_type(kind: pa.DataType) -> str:
    """The name of the type that values of a column have in JSON."""
    return str(_plain(kind)["type"])


def _plain(kind: pa.DataType) -> dict[str, Any]:
    if pa.types.is_list(kind):
        return {"type": "array", "items": _nullable(kind.value_type)}
    if pa.types.is_map(kind):
        return {"type": "object", "additionalProperties": _nullable(kind.item_type)}
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return {"type": "object", "properties": {each.name: _nullable(each.type) for each in fields}}
    if pa.types.is_decimal(kind):
        return {"type": "number"}
    return {"type": _TYPES.get(kind, "string")}


def check_writable(columns: pa.Schema, writer: ResolvedWriterSchema) -> None:
    """UnresolvableSchemaError where a row lacks a field that is required, or has one that is refused."""
    schema = json.loads(writer.text)
    if not isinstance(schema, dict):
        return
    for name in schema.get("required") or ():
        if name not in columns.names:
            raise UnresolvableSchemaError(str(name), "no column has that name, and it is required")
    closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
    for column in columns if closed else ():
        if column.name not in (schema.get("properties") or {}):
            raise UnresolvableSchemaError(column.name, "the schema has no such field, and takes no others")


JSON: Final = RegisteredKind(
    "json", "JSON", "JSON", _reading, _writing, own_schema, check_writable, schema_columns
)
