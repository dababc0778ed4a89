"""The limits on values from any source: the types of JSON, and bounds on number, depth and size."""

import math
from typing import Any

from streamapp.spec.text.document import DEEPEST, MOST_VALUES, Path, walk

MOST_BITS = 64
PLAIN = (dict, list, str, int, float, type(None))


def first_invalid_value(data: Any) -> tuple[Path, str] | None:
    """The path of the first invalid value, and its error. A value that contains itself is too deep."""
    for count, (path, value) in enumerate(walk(data)):
        if len(path) > DEEPEST:
            return (), f"nested more than {DEEPEST} deep"
        if count > MOST_VALUES:
            return (), f"more than {MOST_VALUES:,} values"
        if error := _value_error(value):
            return path, error
    return None


def _value_error(value: object) -> str:
    match value:
        case str() if _has_half_surrogate(value):
            return "holds half of a surrogate pair; write the character itself"
        case int() if value.bit_length() > MOST_BITS:
            return f"found a whole number of {value.bit_length()} bits; allowed are {MOST_BITS} at most"
        case float() if not math.isfinite(value):
            return f"found {value}; allowed is a finite number"
        case dict():
            return next((error for name in value if (error := _name_error(name))), "")
        case _ if not isinstance(value, PLAIN):
            kind = type(value).__name__
            return f"found a value of the type {kind}; allowed are texts, numbers, flags, lists and mappings"
    return ""


def _name_error(name: object) -> str:
    return _value_error(name) if isinstance(name, str) else "the name of a field has to be a text"


def _has_half_surrogate(text: str) -> bool:
    """True if a text holds half of a surrogate pair, which UTF-8 cannot encode."""
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)
