"""Texts as numbers, truth values and times, by the rules of Spark in ANSI mode."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from streamapp_runtime.expressions.row_value import WHOLE_TYPES
from streamapp_runtime.operators.stateless.times.text_times import (
    BLANKS,
    JAVA_BLANKS,
    read_date,
    read_local_moment,
    read_moment,
)

_WHOLE: Final = re.compile(r"([+-]?)0*([0-9]*)")
_MOST_DIGITS: Final = 19
_DECIMAL: Final = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_HEXADECIMAL: Final = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?"
)
_SPECIAL: Final = re.compile(r"([+-]?)(?:Infinity|NaN)")
"""As Java writes them; those below have any letters, and no sign before nan."""
_SPECIAL_WORDS: Final = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity", "nan"})
_TRUE: Final = frozenset({"t", "true", "y", "yes", "1"})
_FALSE: Final = frozenset({"f", "false", "n", "no", "0"})

CastText = int | float | bool | None


def reader_of(kind: str) -> Callable[[str], CastText]:
    """The function that reads texts as values of a type; it gives None for a text that is none."""
    if kind in WHOLE_TYPES:
        most = 2 ** (8 * 2 ** WHOLE_TYPES.index(kind) - 1) - 1
        return lambda text: _whole(text, most)
    return _READERS[kind]


def malformed(text: str, kind: str) -> str:
    """Spark's words for a text that is none of a type."""
    shown = text.replace("\\", "\\\\").replace("'", "\\'")
    return (
        f'The value \'{shown}\' of the type "STRING" cannot be cast to "{kind}" because it is malformed. '
        "Correct the value as per the syntax, or change its target type. Use `try_cast` to tolerate "
        "malformed input and return NULL instead"
    )


def _whole(text: str, most: int) -> int | None:
    bare = text.strip(BLANKS)
    match = _WHOLE.fullmatch(bare)
    if match is None or not bare[-1:].isdigit() or len(match[2]) > _MOST_DIGITS:
        return None
    number = int(match[1] + (match[2] or "0"))
    return number if -most - 1 <= number <= most else None


def _double(text: str) -> float | None:
    bare = text.strip(JAVA_BLANKS)  # Java reads doubles
    if match := _DECIMAL.fullmatch(bare):
        return float(match[1])
    if match := _HEXADECIMAL.fullmatch(bare):
        return _hexadecimal(match[1])
    return float(bare) if _SPECIAL.fullmatch(bare) or bare.lower() in _SPECIAL_WORDS else None


def _hexadecimal(number: str) -> float:
    try:
        return float.fromhex(number)
    except OverflowError:
        return float("-inf" if number.startswith("-") else "inf")


def _truth(text: str) -> bool | None:
    bare = text.strip(BLANKS).lower()
    return bare in _TRUE if bare in _TRUE | _FALSE else None


_READERS: Final[Mapping[str, Callable[[str], CastText]]] = {
    "DOUBLE": _double,
    "BOOLEAN": _truth,
    "DATE": read_date,
    "TIMESTAMP": read_moment,
    "TIMESTAMP_NTZ": read_local_moment,
}
