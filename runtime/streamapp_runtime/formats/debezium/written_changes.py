"""Changes that tests and commands write under a registry, as a connector would.

A change is a record of `before`, `after` and `op`, or flattened the row with `__deleted` behind it. By the
schema of a connector it has other fields, too: its source, times, and columns that the stream does not
declare. No app reads these. They are null, or empty where they must not be null.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.column_list import Column, declared_name
from streamapp_runtime.formats.arrow_types import arrow_schema, spark_type
from streamapp_runtime.formats.avro.avro_writing import written_rows
from streamapp_runtime.formats.avro.schema_resolution import Schema, linked_text, type_name
from streamapp_runtime.formats.debezium.change_rows import AFTER, BEFORE, DELETED, OP
from streamapp_runtime.formats.debezium.connect_json import TIMES
from streamapp_runtime.formats.debezium.debezium_format import spelled
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.registry.registry_format import Encode

MUST_NOT_BE_NULL: Final = "it is null, and must not be by the schema"
_EMPTY: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("int", "long"), 0),
    **dict.fromkeys(("float", "double"), 0.0),
    "boolean": False,
    "string": "",
    "bytes": b"",
    "array": [],
    "map": {},
}


def change_columns(columns: Sequence[Column], *, flattened: bool) -> tuple[Column, ...]:
    """The columns of changes of rows that have these columns."""
    if flattened:
        return (*columns, Column(DELETED, "STRING"))
    row = spark_type(pa.struct(list(arrow_schema(columns))))
    return Column(BEFORE, row), Column(AFTER, row), Column(OP, "STRING", nullable=False)


def keys_of_changes(changes: pa.RecordBatch, columns: Sequence[Column], key: str | None) -> pa.Array | None:
    """The key column of the rows that changes are of; None where no column is the key."""
    name = declared_name(columns, key) if key else None
    if name is None or not _are_envelopes(changes):
        return None if name is None else changes.column(name)
    return pc.coalesce(*(pc.struct_field(changes.column(part), name) for part in (AFTER, BEFORE)))


def _are_envelopes(changes: pa.RecordBatch) -> bool:
    """True unless changes are flattened: a table may have columns of such names, too."""
    return DELETED not in changes.schema.names


def partial_changes(changes: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Changes with the fields that they say: of a row before one nothing is said where it is null."""
    has_before = _are_envelopes(changes)
    for change in changes.to_pylist(maps_as_pydicts="strict"):
        if has_before and change[BEFORE] is not None:
            change[BEFORE] = _filled_fields(change[BEFORE])
        yield _filled_fields(change) if change.get(DELETED) == "true" else change


def spelled_time(value: Any, title: Any) -> Any:
    """A value as Debezium writes one of this title, if it is a time; another one as it is."""
    time = TIMES.get(str(title))
    return value if time is None or value is None else spelled(value, time.spelling)


def check_fields(value: Mapping[str, Any], names: Mapping[str, Any], path: str) -> None:
    """ValueError where a row has a value for which the schema has no field of its name."""
    for name, part in value.items():
        if name not in names and part is not None:
            raise ValueError(f"{path}{name}: the schema has no such field")


def writing_avro_changes(writer: ResolvedWriterSchema, frame: bytes, _: FormatOptions) -> Encode:
    """The writing of changes by a schema of Avro."""
    schema, named = linked_text(writer.text, writer.dependencies)
    filling = _AvroFilling(named)

    def encoded(changes: pa.RecordBatch) -> pa.BinaryArray:
        records = (filling.value(schema, change, "") for change in partial_changes(changes))
        return written_rows(records, schema, frame)

    return encoded


@dataclass(frozen=True, slots=True)
class _AvroFilling:
    """The values of a schema's types, whose named types stand beside it."""

    named: Mapping[str, Schema]

    def value(self, schema: Schema, value: Any, path: str) -> Any:
        """A value with all fields that its type has."""
        branches = schema if isinstance(schema, list) else [schema]
        if value is None and "null" not in branches:
            raise ValueError(f"{path.rstrip('.')}: {MUST_NOT_BE_NULL}")
        branches = [branch for branch in branches if branch != "null"]
        if value is None or len(branches) != 1:
            return value
        (schema,) = branches
        schema = self.named.get(schema, schema) if isinstance(schema, str) else schema
        name = type_name(schema)
        if name == "record" and isinstance(value, Mapping):
            return self._record(schema, value, path)
        if name == "array" and isinstance(value, list):
            return [self.value(schema["items"], each, f"{path}[].") for each in value]
        if name == "map" and isinstance(value, Mapping):
            return {key: self.value(schema["values"], each, f"{path}{{}}.") for key, each in value.items()}
        return spelled_time(value, schema.get("connect.name")) if isinstance(schema, dict) else value

    def _record(self, schema: Schema, value: Mapping[str, Any], path: str) -> dict[str, Any]:
        types = {field["name"]: field["type"] for field in schema["fields"]}
        check_fields(value, types, path)
        return {
            name: self.value(kind, value[name], f"{path}{name}.") if name in value else self._empty(kind)
            for name, kind in types.items()
        }

    def _empty(self, schema: Schema) -> Any:
        """Null, or the value of a type that says nothing."""
        if isinstance(schema, list):
            return None if "null" in schema else self._empty(schema[0])
        schema = self.named.get(schema, schema) if isinstance(schema, str) else schema
        name = type_name(schema)
        if name == "record":
            return self._record(schema, {}, "")
        if name == "enum":
            return schema["symbols"][0]
        return bytes(schema["size"]) if name == "fixed" else _EMPTY.get(name)


def _filled_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
