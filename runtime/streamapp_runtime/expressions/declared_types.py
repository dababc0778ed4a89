"""Declared types as Spark names them, without Spark: from the spelling that `parse_columns` gives."""

from collections.abc import Iterator
from typing import Final

from streamapp.spec.value_types.column_list import SIMPLE, SYNONYMS

_DECIMALS: Final = ("DECIMAL", "DEC", "NUMERIC")
_TEXTS: Final = ("CHAR", "VARCHAR")
_DIGITS: Final = "10"
"""Of a decimal that says nothing."""


class UnheldTypeError(ValueError):
    """A type that Spark knows and its rows for Python cannot hold; the text is how Spark names it."""


def type_name(declared: str) -> str:
    """The type as Spark names it; UnheldTypeError where rows cannot hold it."""
    name, holds_texts = _named(declared)
    if holds_texts:
        raise UnheldTypeError(name)
    return name


def _named(declared: str) -> tuple[str, bool]:
    """The name, and whether a type of texts of a fixed length is in it."""
    word, nested, inside = declared.partition("<")
    if nested:
        parts = [_part(part, fields=word == "STRUCT") for part in parts_of_type(inside.removesuffix(">"))]
        return f"{word}<{', '.join(name for name, _ in parts)}>", any(holds for _, holds in parts)
    word, _, numbers = declared.partition("(")
    if word in _DECIMALS:
        digits, *decimals = [number.strip() for number in numbers.rstrip(")").split(",") if number] or [
            _DIGITS
        ]
        return f"DECIMAL({digits},{decimals[0] if decimals else 0})", False
    if word in _TEXTS:
        return "STRING", True
    if word not in SIMPLE:
        raise TypeError(f"not a type of a column list: {declared}")
    return SYNONYMS.get(word, word), False


def _part(text: str, *, fields: bool) -> tuple[str, bool]:
    """An inner type, or a field with its name in backquotes."""
    if not fields:
        return _named(text)
    name, kind = field_of_type(text)
    of_field, holds_texts = _named(kind)
    return f"`{name}`: {of_field}", holds_texts


def field_of_type(text: str) -> tuple[str, str]:
    """The name of a field as it stands within backquotes, and its type."""
    if not text.startswith("`"):
        name, _, kind = text.partition(": ")
        return name, kind
    end = 1
    while text[end] != "`" or text[end : end + 2] == "``":
        end += 2 if text[end] == "`" else 1
    return text[1:end], text[end + 3 :]


def parts_of_type(text: str) -> Iterator[str]:
    """The parts between commas that stand within nothing else."""
    depth, start, quoted = 0, 0, False
    for place, character in enumerate(text):
        quoted ^= character == "`"
        if quoted:
            continue
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()
