"""Judges a value by a structural schema, as an API server does: a small checker of its own."""

import re
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


def violations(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Where and how a value breaks the schema; unknown fields count as broken, not as pruned."""
    wanted = schema["type"]
    if not isinstance(value, _TYPES[wanted]) or (isinstance(value, bool) and wanted != "boolean"):
        yield f"{path}: {value!r} is no {wanted}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is none of {schema['enum']}"
    match value:
        case dict():
            yield from _object(value, schema, path)
        case list():
            yield from _array(value, schema, path)
        case str():
            if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
                yield f"{path}: {len(value)} characters"
            if not re.search(schema.get("pattern", ""), value):
                yield f"{path}: {value!r} does not match"
        case int() | float():
            if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
                yield f"{path}: {value} is out of range"


def _array(value: list[Any], schema: Schema, path: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema["maxItems"]:
        yield f"{path}: {len(value)} entries"
    names = [entry.get("name") for entry in value if "x-kubernetes-list-map-keys" in schema]
    if len(set(names)) < len(names):
        yield f"{path}: a name stands twice"
    for index, entry in enumerate(value):
        yield from violations(entry, schema["items"], f"{path}[{index}]")


def _object(value: dict[str, Any], schema: Schema, path: str) -> Iterator[str]:
    yield from (f"{path}: without {name}" for name in schema.get("required", ()) if name not in value)
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        yield f"{path}: {len(value)} fields"
    for name, inner in value.items():
        if name in schema.get("properties", {}):
            yield from violations(inner, schema["properties"][name], f"{path}.{name}")
        elif "additionalProperties" in schema:
            yield from violations(inner, schema["additionalProperties"], f"{path}.{name}")
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield f"{path}: unknown field {name}"


def parts(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Every schema within a schema, with its path."""
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from parts(inner, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from parts(schema[key], path + "[]")
