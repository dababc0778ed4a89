"""Functions of texts and of their bytes, each for a whole column."""

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.stateless.letter_case import lower_case, upper_case

_TEXT: Final = pa.string()
_DAY_MICROS: Final = 86_400 * 10**6
_PLAIN_DAYS: Final = -719_528, 2_932_897
"""The first day of the year 0, and of the year 10000: the years between them are written without a sign."""
_CLOCK: Final = r"T(\d\d:\d\d:\d\d)(?:\.0*|(\.\d*[1-9])0*)$"
_LEAST_MOMENT: Final = "-290308-12-21 19:59:05.224192"
"""The one moment that NumPy takes for none."""


def text_of_times(times: pa.Array) -> pa.Array:
    """Days or moments as Spark writes them, with the session's zone, which is UTC."""
    is_days = pa.types.is_date32(times.type)
    numbers = np.asarray(times.cast(pa.int32() if is_days else pa.int64()).fill_null(0)).astype(np.int64)
    texts = pa.array(np.datetime_as_string(numbers.view("M8[D]" if is_days else "M8[us]")), _TEXT)
    texts = pc.replace_substring_regex(texts, _CLOCK, r" \1\2")
    first, end = (day * (1 if is_days else _DAY_MICROS) for day in _PLAIN_DAYS)
    signed = (numbers < first) | (numbers >= end)
    if signed.any():
        rows = zip(texts.to_pylist(), signed.tolist(), strict=True)
        texts = pa.array([_with_sign(text) if is_signed else text for text, is_signed in rows], _TEXT)
    return pc.if_else(times.is_valid(), texts, pa.scalar(None, _TEXT))


def _with_sign(text: str) -> str:
    if text == "NaT":
        return _LEAST_MOMENT
    year, _, rest = text.removeprefix("-").partition("-")
    return f"{'-' if text.startswith('-') else '+'}{int(year):04d}-{rest}"


def joined(separator: str, columns: Sequence[pa.Array]) -> pa.Array:
    """Texts that are not null with something between them; Arrow forgets rows that have none."""
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return pa.array([separator.join(text for text in row if text is not None) for row in rows], pa.string())


def _each(column: pa.Array, function: Callable[[Any], Any], kind: pa.DataType = _TEXT) -> pa.Array:
    return pa.array([None if value is None else function(value) for value in column.to_pylist()], kind)


def _cased(
    by_arrow: Callable[[pa.Array], pa.Array], function: Callable[[str], str]
) -> Callable[..., pa.Array]:
    """Arrow knows the letters of ASCII."""
    return lambda texts: by_arrow(texts) if _is_ascii(texts) else _each(texts, function)


def _is_ascii(texts: pa.Array) -> bool:
    return pc.all(pc.string_is_ascii(texts), min_count=0).as_py() is not False


def _padding(text: str, length: int, pad: str) -> str:
    missing = length - len(text)
    return (pad * (missing // len(pad) + 1))[:missing] if pad and missing > 0 else ""


def _padded_left(texts: pa.Array, length: int, pad: str) -> pa.Array:
    return _each(texts, lambda text: _padding(text, length, pad) + text[: max(length, 0)])


def _padded_right(texts: pa.Array, length: int, pad: str) -> pa.Array:
    return _each(texts, lambda text: text[: max(length, 0)] + _padding(text, length, pad))


def _located(texts: pa.Array, part: str, first: int) -> pa.Array:
    """The place of a part from some place on; 0 where it is not. What is empty is at the first one."""

    def place(text: str) -> int:
        return 1 + (text.find(part, first - 1) if part else 0)

    return _each(texts, place if first > 0 else lambda _: 0, pa.int32())


def _split_part(texts: pa.Array, delimiter: str, number: int) -> pa.Array:
    """One of the parts between delimiters, from the end where its number is below 0."""

    def part(text: str) -> str:
        parts = text.split(delimiter) if delimiter else [text]
        index = number - 1 if number > 0 else len(parts) + number
        return parts[index] if 0 <= index < len(parts) else ""

    return _each(texts, part)


def _before_delimiters(texts: pa.Array, delimiter: str, count: int) -> pa.Array:
    """The part before so many delimiters, or behind so many from the end. Delimiters may overlap."""

    def before(text: str) -> str:
        place, left = -1, count
        while left > 0 and (place := text.find(delimiter, place + 1)) >= 0:
            left -= 1
        return text if left else text[:place]

    def behind(text: str) -> str:
        place, left = len(text) - len(delimiter) + 1, -count
        while left > 0 and place > 0 and (place := text.rfind(delimiter, 0, place - 1 + len(delimiter))) >= 0:
            left -= 1
        return text if left else text[place + len(delimiter) :]

    if not delimiter or not count:
        return _each(texts, lambda _: "")
    return _each(texts, before if count > 0 else behind)


def _translated(texts: pa.Array, old: str, new: str) -> pa.Array:
    """Each character as the new one at its place; it is left out where there is none, or NUL."""
    table: dict[int, str | None] = {}
    for place, character in enumerate(old):
        table.setdefault(ord(character), new[place].strip("\0") if place < len(new) else None)
    return _each(texts, lambda text: text.translate(table))


def _digest(name: str, column: pa.Array) -> pa.Array:
    return _each(column, lambda value: hashlib.new(name, value, usedforsecurity=False).hexdigest())


def _bits(column: pa.Array) -> pa.Array:
    return pc.multiply(pc.binary_length(column), pa.scalar(8, pa.int32()))


TEXT_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "length": pc.utf8_length,
    "trim": lambda texts: pc.utf8_trim(texts, " "),
    "ltrim": lambda texts: pc.utf8_ltrim(texts, " "),
    "rtrim": lambda texts: pc.utf8_rtrim(texts, " "),
    "upper": _cased(pc.ascii_upper, upper_case),
    "lower": _cased(pc.ascii_lower, lower_case),
    "replace": pc.replace_substring,
    "lpad": _padded_left,
    "rpad": _padded_right,
    "reverse": lambda texts: _each(texts, lambda text: text[::-1]),
    "ascii": lambda texts: _each(texts, lambda text: ord(text[0]) if text else 0, pa.int32()),
    "locate": _located,
    "split_part": _split_part,
    "substring_index": _before_delimiters,
    "translate": _translated,
    "repeat": lambda texts, times: pc.binary_repeat(texts, max(times, 0)),
}
BYTES_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "octet_length": pc.binary_length,
    "bit_length": _bits,
    "md5": lambda column: _digest("md5", column),
    "sha1": lambda column: _digest("sha1", column),
    "sha2": lambda column, bits: _digest(f"sha{bits}", column),
    "crc32": lambda column: _each(column, zlib.crc32, pa.int64()),
    "hex": lambda column: _each(column, lambda value: value.hex().upper()),
}
