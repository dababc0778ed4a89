"""Values that a lane sent, each of the type of its field: TypeError or ValueError where it is another."""

from base64 import b64decode
from math import isfinite
from typing import Any, Final, TypeVar

Value = TypeVar("Value")
_MOST: Final = 1 << 63


def of_type(value: object, kind: type[Value]) -> Value:
    """A value of exactly this type: a boolean is no number."""
    if type(value) is not kind:
        raise TypeError(f"a {type(value).__name__} where a {kind.__name__} is due")
    return value


def sent_text(value: object) -> str:
    """A text."""
    return of_type(value, str)


def sent_flag(value: object) -> bool:
    """True or false."""
    return of_type(value, bool)


def sent_number(value: object) -> int:
    """A whole number of 64 bits."""
    number = of_type(value, int)
    if not -_MOST <= number < _MOST:
        raise ValueError("a number of more than 64 bits")
    return number


def sent_seconds(value: object) -> float:
    """A number of seconds."""
    seconds = float(sent_number(value)) if isinstance(value, int) else of_type(value, float)
    if not isfinite(seconds):
        raise ValueError("seconds without an end")
    return seconds


def sent_bytes(value: object) -> bytes:
    """Bytes, which travel as base64."""
    return b64decode(sent_text(value))


def sent_list(value: object) -> list[Any]:
    """A list of anything."""
    return of_type(value, list)


def sent_texts(values: object) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(map(sent_text, sent_list(values)))


def sent_object(value: object) -> dict[str, Any]:
    """An object with fields of any types."""
    return of_type(value, dict)


def sent_texts_by_name(values: object) -> dict[str, str]:
    """An object of texts."""
    return {name: sent_text(value) for name, value in sent_object(values).items()}


def sent_numbers_by_name(values: object) -> dict[str, int]:
    """An object of whole numbers."""
    return {name: sent_number(value) for name, value in sent_object(values).items()}
