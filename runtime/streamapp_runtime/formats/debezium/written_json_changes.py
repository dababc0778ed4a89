"""Changes that are written by a JSON Schema of Connect's converter."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from streamapp_runtime.formats.debezium.connect_json import DECIMAL, connect_type, described, parameter
from streamapp_runtime.formats.debezium.debezium_format import spelled
from streamapp_runtime.formats.debezium.written_changes import (
    MUST_NOT_BE_NULL,
    check_fields,
    partial_changes,
    spelled_time,
)
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.json.json_spelling import PLAIN, JsonSpelling
from streamapp_runtime.formats.registry.registry_format import Encode

_EMPTY: Final[Mapping[str, Any]] = {
    "integer": 0,
    "number": 0,
    "boolean": False,
    "string": "",
    "bytes": "",
    "array": [],
}
_BASE64: Final = JsonSpelling(decimals="base64")


def writing_json_changes(writer: ResolvedWriterSchema, frame: bytes, _: FormatOptions) -> Encode:
    """The writing of changes by a schema of JSON."""
    schema = json.loads(writer.text)

    def encoded(changes: pa.RecordBatch) -> pa.BinaryArray:
        records = (_value(schema, change, "") for change in partial_changes(changes))
        return pa.array([frame + json.dumps(record).encode() for record in records], pa.binary())

    return encoded


def _value(schema: Any, value: Any, path: str) -> Any:
    """A value with all fields that its type has; ValueError where it has no place there."""
    if value is None:
        if _may_be_null(schema):
            return None
        raise ValueError(f"{path.rstrip('.')}: {MUST_NOT_BE_NULL}")
    schema = described(schema, path)
    name, parts = connect_type(schema, path), schema.get("properties")
    if name == "object" and parts is not None:
        check_fields(value, parts, path)
        return {
            part: _value(kind, value[part], f"{path}{part}.") if part in value else _empty(kind)
            for part, kind in parts.items()
        }
    if name == "object":
        return {key: _value(schema["additionalProperties"], each, path) for key, each in value.items()}
    if name == "array":
        return [_value(schema["items"], each, f"{path}[].") for each in value]
    if isinstance(value, Decimal):
        return _decimal(schema, name, value, path)
    time = spelled_time(value, schema.get("title"))
    return spelled(time, PLAIN)


def _decimal(schema: Mapping[str, Any], name: str, value: Decimal, path: str) -> str | float:
    """A decimal as bytes by the scale of the schema, or as a number."""
    if name == "number":
        number = float(value)
        if Decimal(repr(number)) != value:
            raise ValueError(f"{path.rstrip('.')}: {value} has more digits than a number here")
        return number
    if schema.get("title") != DECIMAL:
        return str(value)
    scaled = value.quantize(Decimal(1).scaleb(-parameter(schema, "scale", path)))
    if scaled != value:
        raise ValueError(f"{path.rstrip('.')}: {value} has more digits than its scale")
    return str(spelled(scaled, _BASE64))


def _empty(schema: Any) -> Any:
    """Null, or the value of a type that says nothing."""
    if _may_be_null(schema):
        return None
    schema = described(schema, "")
    name = connect_type(schema, "")
    if name == "object":
        return {part: _empty(kind) for part, kind in (schema.get("properties") or {}).items()}
    return _EMPTY.get(name)


def _may_be_null(schema: Any) -> bool:
    return isinstance(schema, dict) and {"type": "null"} in schema.get("oneOf", ())
