"""The columns of a registered JSON Schema: those that hold its records without a loss."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from streamapp_runtime.formats.registry.registry_format import SchemaColumns, held_fields
from streamapp_runtime.registered_schema import RegisteredSchema, UnresolvableSchemaError

_PLAIN: Final[Mapping[str, pa.DataType]] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
}
_TEXTS: Final[Mapping[str, pa.DataType]] = {"date-time": pa.timestamp("us", "UTC"), "date": pa.date32()}


def schema_columns(registered: RegisteredSchema) -> SchemaColumns:
    """The columns of a schema, and the fields that no column holds."""
    files = {dependency.name: json.loads(dependency.text) for dependency in registered.dependencies}
    reading = _ColumnsOfJson(files)
    kind = reading.type(json.loads(registered.text), json.loads(registered.text), "", ())
    if not pa.types.is_struct(kind):
        raise UnresolvableSchemaError("", f"its records are no objects with properties, but {kind}")
    return SchemaColumns(pa.schema(list(kind)), reading.left_out)


@dataclass(frozen=True, slots=True)
class _ColumnsOfJson:
    files: Mapping[str, Any]  # those that are referred to, by name
    left_out: dict[str, str] = field(default_factory=dict)

    def type(self, schema: Any, file: Any, path: str, within: tuple[str, ...]) -> pa.DataType:
        """The column of a schema; UnresolvableSchemaError where none holds it."""
        if not isinstance(schema, dict):
            raise UnresolvableSchemaError(path, "any value may be written there")
        if "$ref" in schema:
            return self._referred(str(schema["$ref"]), file, path, within)
        for several in ("oneOf", "anyOf", "allOf"):
            if several in schema and "properties" not in schema:
                branches = [branch for branch in schema[several] if branch != {"type": "null"}]
                kinds = {self.type(branch, file, path, within) for branch in branches}
                if len(kinds) != 1:
                    raise UnresolvableSchemaError(path, f"it is {several} of several types")
                return kinds.pop()
        return self._typed(schema, file, path, within)

    def _typed(self, schema: Mapping[str, Any], file: Any, path: str, within: tuple[str, ...]) -> pa.DataType:
        name = type_name(schema, path)
        if name == "object":
            return self._object(schema, file, path, within)
        if name == "array":
            return pa.list_(pa.field("element", self.type(schema.get("items"), file, f"{path}[]", within)))
        if name == "string" and schema.get("contentEncoding") == "base64":
            return pa.binary()
        if name == "string":
            return _TEXTS.get(str(schema.get("format")), pa.string())
        if name not in _PLAIN:
            raise UnresolvableSchemaError(path, f"its type is {name}")
        return _PLAIN[name]

    def _object(
        self, schema: Mapping[str, Any], file: Any, path: str, within: tuple[str, ...]
    ) -> pa.DataType:
        if "properties" not in schema:
            values = schema.get("additionalProperties")
            if not isinstance(values, dict):
                raise UnresolvableSchemaError(path, "it is an object of any fields")
            return pa.map_(pa.string(), self.type(values, file, f"{path}{{}}", within))
        return held_fields(
            schema["properties"],
            lambda part, inside: self.type(part, file, inside, within),
            path,
            "it has no property that a column holds",
            self.left_out,
        )

    def _referred(self, reference: str, file: Any, path: str, within: tuple[str, ...]) -> pa.DataType:
        """The column of what a schema refers to, in its own file or in another one."""
        if reference in within:
            raise UnresolvableSchemaError(path, f'"{reference}" contains itself, which no column can')
        name, _, pointer = reference.partition("#")
        target = file = self.files.get(name) if name else file
        for step in filter(None, pointer.split("/")):
            target = (
                target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
            )
        if target is None:
            raise UnresolvableSchemaError(path, f'it refers to "{reference}", which is not there')
        return self.type(target, file, path, (*within, reference))


def type_name(schema: Mapping[str, Any], path: str) -> str:
    """The type that is no null; that of its values where it says none."""
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    declared_type = schema.get("type", "object" if "properties" in schema else None)
    if declared_type is None and values and all(isinstance(value, str | None) for value in values):
        declared_type = "string"
    names = [
        name
        for name in (declared_type if isinstance(declared_type, list) else [declared_type])
        if name not in {"null", None}
    ]
    if set(names) == {"integer", "number"}:
        names = ["number"]
    if len(names) != 1:
        raise UnresolvableSchemaError(path, f"its type is {' or '.join(names) or 'not said'}")
    return str(names[0])
