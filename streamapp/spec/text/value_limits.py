"""What values may be at all, wherever they come from: of the kinds that JSON has, and within the limits."""

import math
from typing import Any

from streamapp.spec.text.document import DEEPEST, MOST_VALUES, Path, walk

MOST_BITS = 64
PLAIN = (dict, list, str, int, float, type(None))


def first_invalid_value(data: Any) -> tuple[Path, str] | None:
    """The first value that no file could hold, and what is wrong with it. What holds itself is too deep."""
    for count, (path, value) in enumerate(walk(data)):
        if len(path) > DEEPEST:
            return (), f"nested more than {DEEPEST} deep"
        if count > MOST_VALUES:
            return (), f"more than {MOST_VALUES:,} values"
        if fault := _fault(value):
            return path, fault
    return None


def _fault(value: object) -> str:
    match value:
        case str() if _torn(value):
            return "holds half of a surrogate pair; write the character itself"
        case int() if value.bit_length() > MOST_BITS:
            return f"found a whole number of {value.bit_length()} bits; allowed are {MOST_BITS} at most"
        case float() if not math.isfinite(value):
            return f"found {value}; allowed is a finite number"
        case dict():
            return next((fault for name in value if (fault := _name_fault(name))), "")
        case _ if not isinstance(value, PLAIN):
            kind = type(value).__name__
            return f"found a value of the type {kind}; allowed are texts, numbers, flags, lists and mappings"
    return ""


def _name_fault(name: object) -> str:
    return _fault(name) if isinstance(name, str) else "the name of a field has to be a text"


def _torn(text: str) -> bool:
    """Whether a text holds half a character, which no UTF-8 can carry on."""
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)
