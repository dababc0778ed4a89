"""The columns of a registered Avro schema: those that hold its records without a loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from streamapp.spec.value_types.column_list import MOST_DIGITS
from streamapp_runtime.formats.avro.schema_resolution import (
    INSTANT,
    TEXTS_OF_TIMES,
    UNITS,
    Schema,
    linked_text,
    logical_type,
    shown_schema,
    type_name,
)
from streamapp_runtime.formats.registry.registry_format import SchemaColumns, held_fields
from streamapp_runtime.registered_schema import RegisteredSchema, UnresolvableSchemaError

_PLAIN: Final[Mapping[str, pa.DataType]] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
}
_LOGICAL: Final[Mapping[tuple[str, str], pa.DataType]] = {
    ("int", "date"): pa.date32(),
    **{("long", f"timestamp-{unit}"): INSTANT for unit in UNITS},
    **{("string", meaning): kind for meaning, kind in TEXTS_OF_TIMES.items()},
    **{("long", f"local-timestamp-{unit}"): pa.timestamp("us") for unit in UNITS},
}
_WIDER: Final[Sequence[tuple[frozenset[pa.DataType], pa.DataType]]] = (
    (frozenset({pa.int32(), pa.int64()}), pa.int64()),
    (frozenset({pa.float32(), pa.float64()}), pa.float64()),
    (frozenset({pa.string(), pa.binary()}), pa.binary()),
)
"""The columns that hold the values of all branches of a union."""


def schema_columns(registered: RegisteredSchema) -> SchemaColumns:
    """The columns of a schema, and the fields that no column holds."""
    parsed, named = linked_text(registered.text, registered.dependencies)
    if type_name(parsed) != "record":
        raise UnresolvableSchemaError("", f"it is no record but {shown_schema(parsed)}")
    reading = _ColumnsOfAvro(named)
    return SchemaColumns(pa.schema(list(reading.type(parsed, "", ()))), reading.left_out)


@dataclass(frozen=True, slots=True)
class _ColumnsOfAvro:
    named: Mapping[str, Schema]
    left_out: dict[str, str] = field(default_factory=dict)

    def type(self, writer: Schema, path: str, within: tuple[str, ...]) -> pa.DataType:
        """The column of a type; UnresolvableSchemaError where none holds it."""
        if isinstance(writer, list):
            return self._union(writer, path, within)
        writer = self.named.get(writer, writer) if isinstance(writer, str) else writer
        name = type_name(writer)
        if name == "record":
            return self._record(writer, path, within)
        if name == "array":
            return pa.list_(pa.field("element", self.type(writer["items"], f"{path}[]", within)))
        if name == "map":
            return pa.map_(pa.string(), self.type(writer["values"], f"{path}{{}}", within))
        if name == "null":
            raise UnresolvableSchemaError(path, "nothing but null is written there")
        meaning = logical_type(writer)
        if meaning == "decimal" and writer["precision"] <= MOST_DIGITS:
            return pa.decimal128(writer["precision"], writer.get("scale", 0))
        return _LOGICAL.get((name, meaning), _PLAIN[name])

    def _record(self, writer: Schema, path: str, within: tuple[str, ...]) -> pa.StructType:
        if writer["name"] in within:
            raise UnresolvableSchemaError(path, f'"{writer["name"]}" contains itself, which no column can')
        within = (*within, writer["name"])
        return held_fields(
            {part["name"]: part["type"] for part in writer["fields"]},
            lambda part, inside: self.type(part, inside, within),
            path,
            f'"{writer["name"]}" has no field that a column holds',
            self.left_out,
        )

    def _union(self, writer: Sequence[Schema], path: str, within: tuple[str, ...]) -> pa.DataType:
        branches = [branch for branch in writer if type_name(branch) != "null"]
        if len(branches) == 1:
            return self.type(branches[0], path, within)
        kinds = {self.type(branch, path, within) for branch in branches}
        if len(kinds) == 1:
            return kinds.pop()
        wider = next((kind for narrow, kind in _WIDER if kinds <= narrow), None) if kinds else None
        if wider is None:
            names = " and ".join(shown_schema(branch) for branch in branches) or "null alone"
            raise UnresolvableSchemaError(path, f"it is a union of {names}, which no column holds")
        return wider
