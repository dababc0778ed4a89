"""The allowed values of a field in words, from its JSON schema."""

from collections.abc import Callable, Mapping
from typing import Any

from streamapp.spec.resource.field_marks import CRD
from streamapp.spec.value_types import durations
from streamapp.spec.value_types.scalars import MEANING

Schema = dict[str, Any]


def allowed_values(schema: Schema) -> str:
    """The type of a field with its bounds, or its choices."""
    if "enum" in schema or "const" in schema:
        choices = [f"`{choice}`" for choice in schema.get("enum", [schema.get("const")])]
        return f"{', '.join(choices[:-1])} or {choices[-1]}" if len(choices) > 1 else choices[0]
    describe = _BY_TYPE.get(schema.get("type", ""))
    return describe(schema) if describe else "a part"


def _flag(_: Schema) -> str:
    return "`true` or `false`"


def _whole_number(schema: Schema) -> str:
    return f"a whole number{_between(schema)}"


def _number(schema: Schema) -> str:
    return f"a number{_between(schema)}"


def _between(schema: Schema) -> str:
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    if minimum is None or maximum is None:
        return "" if minimum is None else f", {minimum:,} or more"
    return f" from {minimum:,} to {maximum:,}"


def _text(schema: Schema) -> str:
    pattern, maximum = schema.get("pattern"), schema.get("maxLength")
    if pattern == durations.PATTERN:
        return MEANING[pattern]
    minimum = " that is not empty" if schema.get("minLength") else ""
    noun = MEANING[pattern] if pattern else f"a text{minimum}"
    return f"{noun}, at most {maximum:,} characters" if maximum else noun


def _list(schema: Schema) -> str:
    items, minimum = schema["items"], schema.get("minItems", 0)
    noun = "parts" if "$ref" in items else f"texts, each {allowed_values(items)}"
    if minimum and minimum == schema.get("maxItems"):
        return f"a list of exactly {minimum} {noun}"
    return f"a list of {f'{minimum} or more ' if minimum else ''}{noun}" + _in_a_cluster(schema, "maxItems")


def _mapping(schema: Schema) -> str:
    values = schema.get("additionalProperties")
    if not isinstance(values, dict):
        return "any mapping"
    return f"a mapping; each value {allowed_values(values)}" + _in_a_cluster(schema, "maxProperties")


def _in_a_cluster(schema: Schema, keyword: str) -> str:
    maximum = schema.get(CRD, {}).get(keyword)
    return f"; at most {maximum} in a cluster" if maximum else ""


_BY_TYPE: Mapping[str, Callable[[Schema], str]] = {
    "boolean": _flag,
    "integer": _whole_number,
    "number": _number,
    "string": _text,
    "array": _list,
    "object": _mapping,
}
