"""The writing of Avro records, and what a schema has to be like for rows to be written by it."""

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any, Final

import fastavro
import pyarrow as pa

from streamapp_runtime.formats.avro.schema_resolution import (
    Schema,
    SchemaResolution,
    linked_text,
    shown_schema,
    type_name,
)
from streamapp_runtime.formats.format_options import ResolvedWriterSchema
from streamapp_runtime.registered_schema import UnresolvableSchemaError

_PLACES: Final[Mapping[pa.DataType, frozenset[str]]] = {
    pa.int8(): frozenset({"int", "long"}),
    pa.int16(): frozenset({"int", "long"}),
    pa.int32(): frozenset({"int", "long"}),
    pa.int64(): frozenset({"long"}),
    pa.float32(): frozenset({"float", "double"}),
    pa.float64(): frozenset({"double"}),
    pa.bool_(): frozenset({"boolean"}),
    pa.string(): frozenset({"string", "enum"}),
    pa.binary(): frozenset({"bytes", "fixed"}),
}
"""The types that have room for each value of a column; times and decimals are as they are read."""


def parsed_writer(writer: ResolvedWriterSchema) -> Schema:
    """The schema with the types that it refers to."""
    return linked_text(writer.text, writer.dependencies)[0]


def encoded_records(columns: pa.RecordBatch, schema: Schema, frame: bytes = b"") -> pa.BinaryArray:
    """The value of each row, behind a frame; ValueError where the schema has no place for a row."""
    return written_rows(columns.to_pylist(maps_as_pydicts="strict"), schema, frame)


def written_rows(rows: Iterable[Mapping[str, Any]], schema: Schema, frame: bytes) -> pa.BinaryArray:
    """The same of rows as objects."""
    written = []
    for row in rows:
        value = BytesIO(frame)
        value.seek(len(frame))
        try:
            fastavro.schemaless_writer(value, schema, row)
        except (TypeError, KeyError, AttributeError, OverflowError) as unfit:
            raise ValueError(f"a row does not fit the Avro schema: {unfit}") from None
        written.append(value.getvalue())
    return pa.array(written, pa.binary())


def check_writable(columns: pa.Schema, writer: ResolvedWriterSchema) -> None:
    """UnresolvableSchemaError where a column has no place in the schema, or a field no value."""
    parsed, named = linked_text(writer.text, writer.dependencies)
    _Writability(named).check(parsed, pa.struct(list(columns)), "")


class _Writability:
    """The check of one schema, part by part."""

    def __init__(self, named: Mapping[str, Schema]) -> None:
        self._named = named

    def check(self, schema: Schema, kind: pa.DataType, path: str) -> None:
        """UnresolvableSchemaError unless one branch has a place for values of the column."""
        faults = []
        for branch in schema if isinstance(schema, list) else [schema]:
            try:
                self._check_branch(
                    self._named.get(branch, branch) if isinstance(branch, str) else branch, kind, path
                )
            except UnresolvableSchemaError as fault:
                faults.append(fault)
            else:
                return
        raise faults[-1]

    def _check_branch(self, schema: Schema, kind: pa.DataType, path: str) -> None:
        schema = self._named.get(schema, schema) if isinstance(schema, str) else schema
        name = type_name(schema)
        if name == "record" and pa.types.is_struct(kind):
            self._check_fields(schema, kind, f"{path}." if path else "")
        elif name == "array" and pa.types.is_list(kind):
            self.check(schema["items"], kind.value_type, f"{path}[]")
        elif name == "map" and pa.types.is_map(kind):
            self.check(schema["values"], kind.item_type, f"{path}{{}}")
        elif not self._has_place(schema, name, kind):
            raise UnresolvableSchemaError(
                path, f"the column is {kind}, which {shown_schema(schema)} has no place for"
            )

    def _has_place(self, schema: Schema, name: str, kind: pa.DataType) -> bool:
        if kind in _PLACES:
            return name in _PLACES[kind]
        try:
            SchemaResolution(self._named).value(schema, kind)
        except UnresolvableSchemaError:
            return False
        return name != "null"

    def _check_fields(self, schema: Schema, kind: pa.StructType, path: str) -> None:
        fields = {field["name"]: field for field in schema["fields"]}
        columns = {kind.field(place).name: kind.field(place).type for place in range(kind.num_fields)}
        for name, column in columns.items():
            if name not in fields:
                raise UnresolvableSchemaError(f"{path}{name}", "the schema has no such field")
            self.check(fields[name]["type"], column, f"{path}{name}")
        for name, field in fields.items():
            if name not in columns and "default" not in field:
                raise UnresolvableSchemaError(
                    f"{path}{name}", "no column has that name, and it has no default"
                )
