"""Every field of the resource as plain values: its path, what may stand there, what a change of it does.

Read from the models, so that whatever tells people about fields tells the same as the checks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from streamapp.spec import durations
from streamapp.spec.app import StreamApp
from streamapp.spec.marks import CRD, EFFECT, NEEDS, Capability, Effect
from streamapp.spec.scalars import MEANING

Schema = dict[str, Any]

UNSET = "unset"
EMPTY = "empty"


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
    inner: list[tuple[type[BaseModel], Field]] = []
    fields: list[Field] = []
    for name, info in model.model_fields.items():
        field = _field(info, schema, info.alias or name, path, effect, needs)
        fields.append(field)
        part = _part_in(info.annotation)
        if part:
            inner.append((part, field))
    yield PartFields(path, schema["description"], tuple(fields), needs)
    for part, field in inner:
        yield from parts(part, field.part or field.path, field.effect, field.needs)


def _field(
    info: FieldInfo, part: Schema, name: str, path: str, effect: Effect | None, needs: Capability | None
) -> Field:
    schema = part["properties"][name]
    marks = schema | _only_variant(schema)
    here = f"{path}.{name}" if path else name
    holds_part = _part_in(info.annotation) is not None
    return Field(
        name=name,
        path=here,
        allowed=_allowed(marks) + _range(info, marks),
        default=None if info.is_required() else _default(schema.get("default"), holds_part),
        says=schema.get("description", ""),
        effect=Effect(marks[EFFECT]) if EFFECT in marks else effect,
        needs=Capability(marks[NEEDS]) if NEEDS in marks else needs,
        part=here + "[]" * (marks.get("type") == "array") if holds_part else None,
    )


def _only_variant(schema: Schema) -> Schema:
    """A field that may be unset is told by what it is when set."""
    variants = [variant for variant in schema.get("anyOf", ()) if variant.get("type") != "null"]
    return variants[0] if variants else {}


def _part_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _part_in(inner))), None)


def _allowed(schema: Schema) -> str:
    """What may stand in a field, in words."""
    if "enum" in schema or "const" in schema:
        choices = [f"`{choice}`" for choice in schema.get("enum", [schema.get("const")])]
        return " or ".join([", ".join(choices[:-1]), choices[-1]]) if len(choices) > 1 else choices[0]
    match schema.get("type"):
        case "boolean":
            return "`true` or `false`"
        case "integer":
            return f"a whole number{_between(schema)}"
        case "number":
            return f"a number{_between(schema)}"
        case "string":
            return _text(schema)
        case "array":
            return _list(schema)
        case "object":
            return _mapping(schema)
    return "a part"


def _between(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    return f", at least {least:,}" if least is not None else ""


def _text(schema: Schema) -> str:
    most = schema.get("maxLength")
    pattern = schema.get("pattern")
    if pattern == durations.PATTERN:
        return MEANING[pattern]
    bound = f", at most {most:,} characters" if most else ""
    if pattern:
        return MEANING[pattern] + bound
    return ("a text that is not empty" if schema.get("minLength") else "a text") + bound


def _list(schema: Schema) -> str:
    items = schema["items"]
    what = "parts" if "$ref" in items else f"texts, each {_allowed(items)}"
    least = schema.get("minItems", 0)
    most = schema.get("maxItems") or schema.get(CRD, {}).get("maxItems")
    if least and least == most:
        return f"a list of exactly {least} {what}"
    return f"a list of {f'{least} or more ' if least else ''}{what}" + _in_a_cluster(schema, "maxItems")


def _mapping(schema: Schema) -> str:
    values = schema.get("additionalProperties")
    if not isinstance(values, dict):
        return "any mapping"
    return f"a mapping; each value {_allowed(values)}" + _in_a_cluster(schema, "maxProperties")


def _in_a_cluster(schema: Schema, keyword: str) -> str:
    most = schema.get(CRD, {}).get(keyword)
    return f"; at most {most} in a cluster" if most else ""


def _range(info: FieldInfo, schema: Schema) -> str:
    """The range of a duration in the words of the check itself, which the schema cannot hold."""
    if schema.get("pattern") != durations.PATTERN:
        return ""
    try:
        TypeAdapter(Annotated[info.annotation, info]).validate_python("999999999d")
    except ValidationError as error:
        return ", from " + error.errors()[0]["msg"].rpartition("allowed is ")[2]
    return ""


def _default(value: Any, holds_part: bool) -> str:
    if value is None:
        return UNSET
    if holds_part or value in ([], {}):
        return EMPTY if value in ([], {}) else "as below"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
