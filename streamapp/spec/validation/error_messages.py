"""Pydantic's findings in the product's words: what was found, what is allowed, what was probably meant."""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from streamapp.spec.problem import nearest, short
from streamapp.spec.resource.base import Part, field_texts
from streamapp.spec.text.document import Path
from streamapp.spec.value_types.scalars import MEANING

Context = Mapping[str, Any]


def error_message(error: ErrorDetails, model: type[BaseModel]) -> str:
    """One finding as a message."""
    context, value = error.get("ctx", {}), error["input"]
    say = MESSAGES.get(error["type"])
    if error["type"] == "extra_forbidden":
        return unknown_field(error["loc"], model)
    if error["type"] == "missing":
        return missing_field(error["loc"], model)
    return say(context, value) if say else error["msg"]


def is_reported_elsewhere(error: ErrorDetails) -> bool:
    """A list counts as too short when its entries are wrong; those are told one by one."""
    return error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]


def unknown_field(loc: Path, model: type[BaseModel]) -> str:
    """An unknown field, beside those that may stand there."""
    part, name = _part_at(loc[:-1], model), str(loc[-1])
    allowed = [info.alias or field for field, info in part.model_fields.items()]
    reason = part.left_out().get(name) if issubclass(part, Part) else None
    return f'unknown field "{short(name)}"{f"; {reason}" if reason else nearest(name, allowed)}'


def missing_field(loc: Path, model: type[BaseModel]) -> str:
    """A field that has to be there, and what it says."""
    part = _part_at(loc[:-1], model)
    attribute = next((n for n, info in part.model_fields.items() if loc[-1] in {info.alias, n}), "")
    says = field_texts(part).get(attribute)
    return f"missing; it has to say: {says[0].lower()}{says[1:].rstrip('.')}" if says else "missing"


def describe_value(value: object) -> str:
    """The value that was found, in a few words that tell its type."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"the flag {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f'the text "{short(value)}"'
        case list():
            return f"a list of {len(value)}"
        case _:
            return "a mapping"


def _text(_: Context, value: object) -> str:
    """Words that YAML takes for flags and numbers surprise people: say how to make them texts."""
    quotes = ""
    if isinstance(value, bool):
        quotes = "; yes, no, on, off, y and n are flags too: put it in quotes"
    elif isinstance(value, (int, float)):
        quotes = "; put it in quotes"
    return f"found {describe_value(value)} where a text is expected{quotes}"


def _entries(count: int) -> str:
    return "1 entry is" if count == 1 else f"{count} entries are"


def _wanted(what: str) -> Callable[[Context, object], str]:
    return lambda _, value: f"found {describe_value(value)} where {what} is expected"


def _choice(context: Context, value: object) -> str:
    allowed = [word.strip("' ") for word in str(context["expected"]).replace(" or ", ", ").split(",")]
    words = ", ".join(allowed)
    suggestion = nearest(value, allowed) if isinstance(value, str) else ""
    are = "is" if len(allowed) == 1 else "are"
    return f"found {describe_value(value)}; allowed {are} {words}" + suggestion * ("mean" in suggestion)


def _pattern(context: Context, value: object) -> str:
    meaning = MEANING.get(context["pattern"], f"a text of the form {context['pattern']}")
    return f"found {describe_value(value)}; allowed is {meaning}"


MESSAGES: Mapping[str, Callable[[Context, object], str]] = {
    "literal_error": _choice,
    "string_pattern_mismatch": _pattern,
    "string_type": _text,
    "int_type": _wanted("a whole number"),
    "int_from_float": _wanted("a whole number"),
    "float_type": _wanted("a number"),
    "bool_type": _wanted("true or false"),
    "tuple_type": _wanted("a list"),
    "list_type": _wanted("a list"),
    "dict_type": _wanted("a mapping"),
    "model_type": _wanted("a mapping"),
    "model_attributes_type": _wanted("a mapping"),
    "string_too_long": lambda c, f: f"has {len(str(f))} characters; at most {c['max_length']} are allowed",
    "string_too_short": lambda _, __: "is empty; write something or leave it out",
    "too_short": lambda c, f: f"found {describe_value(f)}; at least {_entries(c['min_length'])} needed",
    "too_long": lambda c, f: f"found {describe_value(f)}; at most {_entries(c['max_length'])} allowed",
    "greater_than_equal": lambda c, f: f"found {f}; at least {c['ge']} is allowed",
    "less_than_equal": lambda c, f: f"found {f}; at most {c['le']} is allowed",
}


def _part_at(loc: Path, model: type[BaseModel]) -> type[BaseModel]:
    """The model that describes the object at a place of the document."""
    for step in loc:
        if isinstance(step, int):
            continue
        info = next((i for n, i in model.model_fields.items() if step in {i.alias, n}), None)
        inner = model_in(info.annotation) if info else None
        if inner is None:
            break
        model = inner
    return model


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that a field's type names, however it is wrapped."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((inner_model for inner in get_args(annotation) if (inner_model := model_in(inner))), None)
