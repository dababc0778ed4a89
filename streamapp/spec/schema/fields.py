"""Every field of the resource as plain values: its path, its allowed values, the effect of a change.

The fields are read from the models, so that documentation and checks agree.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.base import field_texts
from streamapp.spec.resource.field_marks import CRD, EFFECT, Effect
from streamapp.spec.validation.error_messages import model_in
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


UNSET = "unset"
EMPTY = "empty"
OWN_DEFAULTS = "its own defaults"


@dataclass(frozen=True, slots=True)
class Field:
    """One field. A field without an effect has that of its parent."""

    name: str
    path: str
    allowed: str
    default: str | None  # None for a required field
    says: str
    effect: Effect | None
    part: str | None  # the path of the part in this field


@dataclass(frozen=True, slots=True)
class PartFields:
    """A part of the resource at its path: `spec.operators[].joinTable`."""

    path: str
    says: str
    fields: tuple[Field, ...]


def parts(
    model: type[BaseModel] = StreamApp,
    path: str = "",
    effect: Effect | None = None,
) -> Iterator[PartFields]:
    """A part and all nested parts, each before its own parts."""
    schema = model.model_json_schema(by_alias=True)
    fields = tuple(
        _field(model, name, schema["properties"][info.alias or name], path, effect)
        for name, info in model.model_fields.items()
    )
    yield PartFields(path, schema["description"], fields)
    for field, info in zip(fields, model.model_fields.values(), strict=True):
        part_model = model_in(info.annotation)
        if part_model and field.part:
            yield from parts(part_model, field.part, field.effect)


def _field(
    model: type[BaseModel],
    attribute: str,
    schema: Schema,
    path: str,
    effect: Effect | None,
) -> Field:
    info = model.model_fields[attribute]
    name = info.alias or ""
    field_path = f"{path}.{name}" if path else name
    merged = schema | _when_set(schema)
    part = field_path + "[]" * (merged.get("type") == "array") if model_in(info.annotation) else None
    return Field(
        name=name,
        path=field_path,
        allowed=allowed_values(merged) + _range(model, name, merged),
        default=None if info.is_required() else _default(info.get_default(), schema.get("default")),
        says=field_texts(model).get(attribute, ""),
        effect=Effect(merged[EFFECT]) if EFFECT in merged else effect,
        part=part,
    )


def _when_set(schema: Schema) -> Schema:
    """The schema of an optional field when it is set."""
    return next((variant for variant in schema.get("anyOf", ()) if variant.get("type") != "null"), {})


def _range(model: type[BaseModel], name: str, schema: Schema) -> str:
    """The range of a duration in the words of its check; a schema cannot express the range."""
    if schema.get("pattern") != durations.PATTERN:
        return ""
    try:
        model.model_validate({name: "999999999d"})
    except ValidationError as error:
        for detail in error.errors():
            if detail["type"] == "duration_range":
                return ", from " + detail["msg"].rpartition("allowed is ")[2]
    return ""


def _default(value: Any, shown: Any) -> str:
    match value:
        case None:
            return UNSET
        case BaseModel():
            return OWN_DEFAULTS
        case () | {} if not value:
            return EMPTY
        case bool():
            return f"`{str(value).lower()}`"
        case _:
            return f"`{shown}`"
