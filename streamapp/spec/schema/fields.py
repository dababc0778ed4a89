"""Every field of the resource as plain values: its path, its allowed values, the effect of a change.

The fields are read from the models, so that documentation and checks agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.base import field_texts
from streamapp.spec.resource.field_marks import EFFECT, Effect
from streamapp.spec.schema.allowed_values import Schema, allowed_values
from streamapp.spec.validation.error_messages import model_in
from streamapp.spec.value_types import durations

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
