"""What may stand in a field, in words, from its JSON schema."""

from collections.abc import Callable, Mapping
from typing import Any

from streamapp.spec.resource.field_marks import CRD
from streamapp.spec.value_types import durations
from streamapp.spec.value_types.scalars import MEANING

Schema = dict[str, Any]


def allowed_values(schema: Schema) -> str:
    """The type with its bounds, or the choices."""
    if "enum" in schema or "const" in schema:
        choices = [f"`{choice}`" for choice in schema.get("enum", [schema.get("const")])]
        return f"{', '.join(choices[:-1])} or {choices[-1]}" if len(choices) > 1 else choices[0]
    say = _BY_TYPE.get(schema.get("type", ""))
    return say(schema) if say else "a part"


def _flag(_: Schema) -> str:
    return "`true` or `false`"


def _whole_number(schema: Schema) -> str:
    return f"a whole number{_between(schema)}"


def _number(schema: Schema) -> str:
    return f"a number{_between(schema)}"


def _between(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None or most is None:
        return "" if least is None else f", {least:,} or more"
    return f" from {least:,} to {most:,}"


def _text(schema: Schema) -> str:
    pattern, most = schema.get("pattern"), schema.get("maxLength")
    if pattern == durations.PATTERN:
        return MEANING[pattern]
    least = " that is not empty" if schema.get("minLength") else ""
    what = MEANING[pattern] if pattern else f"a text{least}"
    return f"{what}, at most {most:,} characters" if most else what


def _list(schema: Schema) -> str:
    items, least = schema["items"], schema.get("minItems", 0)
    what = "parts" if "$ref" in items else f"texts, each {allowed_values(items)}"
    if least and least == schema.get("maxItems"):
        return f"a list of exactly {least} {what}"
    return f"a list of {f'{least} or more ' if least else ''}{what}" + _in_a_cluster(schema, "maxItems")


def _mapping(schema: Schema) -> str:
    values = schema.get("additionalProperties")
    if not isinstance(values, dict):
        return "any mapping"
    return f"a mapping; each value {allowed_values(values)}" + _in_a_cluster(schema, "maxProperties")


def _in_a_cluster(schema: Schema, keyword: str) -> str:
    most = schema.get(CRD, {}).get(keyword)
    return f"; at most {most} in a cluster" if most else ""


_BY_TYPE: Mapping[str, Callable[[Schema], str]] = {
    "boolean": _flag,
    "integer": _whole_number,
    "number": _number,
    "string": _text,
    "array": _list,
    "object": _mapping,
}
