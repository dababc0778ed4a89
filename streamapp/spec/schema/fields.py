"""Every field of the resource as plain values: its path, what may stand there, what a change of it does.

Read from the models, so that whatever tells people about fields tells the same as the checks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.field_marks import EFFECT, NEEDS, Capability, Effect
from streamapp.spec.schema.allowed_values import Schema, allowed_values
from streamapp.spec.validation.error_messages import model_in
from streamapp.spec.value_types import durations

UNSET = "unset"
EMPTY = "empty"
OWN_DEFAULTS = "its own defaults"


@dataclass(frozen=True, slots=True)
class Field:
    """One field. An effect or need that it does not have itself is its parent's."""

    name: str
    path: str
    allowed: str
    default: str | None  # None: it has to be there
    says: str
    effect: Effect | None
    needs: Capability | None
    part: str | None  # the path of the part that stands in it


@dataclass(frozen=True, slots=True)
class PartFields:
    """A part of the resource where it stands: `spec.operators[].joinTable`."""

    path: str
    says: str
    fields: tuple[Field, ...]
    needs: Capability | None


def parts(
    model: type[BaseModel] = StreamApp,
    path: str = "",
    effect: Effect | None = None,
    needs: Capability | None = None,
) -> Iterator[PartFields]:
    """A part and all parts within it, each before those that it holds."""
    schema = model.model_json_schema(by_alias=True)
    fields = tuple(
        _field(model, info, schema["properties"][info.alias or name], path, effect, needs)
        for name, info in model.model_fields.items()
    )
    yield PartFields(path, schema["description"], fields, needs)
    for field, info in zip(fields, model.model_fields.values(), strict=True):
        inner = model_in(info.annotation)
        if inner and field.part:
            yield from parts(inner, field.part, field.effect, field.needs)


def _field(
    model: type[BaseModel],
    info: FieldInfo,
    schema: Schema,
    path: str,
    effect: Effect | None,
    needs: Capability | None,
) -> Field:
    name = info.alias or ""
    here = f"{path}.{name}" if path else name
    told = schema | _when_set(schema)
    part = here + "[]" * (told.get("type") == "array") if model_in(info.annotation) else None
    return Field(
        name=name,
        path=here,
        allowed=allowed_values(told) + _range(model, name, told),
        default=None if info.is_required() else _default(info.get_default(), schema.get("default")),
        says=info.description or "",
        effect=Effect(told[EFFECT]) if EFFECT in told else effect,
        needs=Capability(told[NEEDS]) if NEEDS in told else needs,
        part=part,
    )


def _when_set(schema: Schema) -> Schema:
    """A field that may be unset is told by what it is when set."""
    return next((variant for variant in schema.get("anyOf", ()) if variant.get("type") != "null"), {})


def _range(model: type[BaseModel], name: str, schema: Schema) -> str:
    """The range of a duration in the words of the check itself, which the schema cannot hold."""
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
