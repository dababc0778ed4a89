"""Functions of texts, each for a whole column."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.operators.stateless.letter_case import lower_case, upper_case


def joined(separator: str, columns: Sequence[pa.Array]) -> pa.Array:
    """Texts that are not null with something between them; Arrow forgets rows that have none."""
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return pa.array([separator.join(text for text in row if text is not None) for row in rows], pa.string())


def _each(texts: pa.Array, function: Callable[[str], str]) -> pa.Array:
    return pa.array([None if text is None else function(text) for text in texts.to_pylist()], pa.string())


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
    "repeat": lambda texts, times: pc.binary_repeat(texts, max(times, 0)),
}
