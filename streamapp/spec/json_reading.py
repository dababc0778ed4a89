"""JSON text as plain values: one object after another, each field once, no number or depth out of bounds."""

import json
import math
from collections import Counter
from typing import Any

from streamapp.spec.document import (
    DEEPEST,
    MOST_VALUES,
    Document,
    Reading,
    StopReadingError,
    dotted,
    walk,
)
from streamapp.spec.problem import Problem, short


class _Twice(dict[str, Any]):
    """An object in which fields stand more than once, kept apart until its path is known."""

    fields: tuple[str, ...] = ()


def read_json(text: str) -> Reading:
    """The objects of a JSON text. A text that is no JSON is a JSONDecodeError."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_no_constant, parse_int=_whole, parse_float=_finite
    )
    documents, problems, at = list[Document](), list[Problem](), _next(text, 0)
    try:
        while at < len(text):
            data, end = decoder.raw_decode(text, at)
            problems += _checked(data)
            documents.append(Document(len(documents) + 1, data, {}))
            at = _next(text, end)
    except RecursionError:
        problems.append(StopReadingError(0, f"nested more than {DEEPEST} deep").problem)
    except StopReadingError as stop:
        problems.append(stop.problem)
    return Reading(tuple(documents), tuple(problems))


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _checked(data: Any) -> list[Problem]:
    """Every field that stands twice; a document beyond the limits ends the reading."""
    found: list[Problem] = []
    for count, (path, value) in enumerate(walk(data)):
        if len(path) > DEEPEST:
            raise StopReadingError(0, f"nested more than {DEEPEST} deep")
        if count > MOST_VALUES:
            raise StopReadingError(0, f"more than {MOST_VALUES:,} values")
        if isinstance(value, _Twice):
            found += [
                Problem(0, 0, dotted((*path, name)), f'the field "{short(name)}" stands twice in one object')
                for name in value.fields
            ]
        if _torn(value) or (isinstance(value, dict) and any(map(_torn, value))):
            raise StopReadingError(0, "holds half of a surrogate pair; write the character itself", path)
    return found


def _torn(value: object) -> bool:
    """Whether a text holds half a character, which no UTF-8 can carry on."""
    if not isinstance(value, str) or value.isascii():
        return False
    return any("\ud800" <= char <= "\udfff" for char in value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = _Twice(found)
    twice.fields = tuple(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
    return twice


def _no_constant(constant: str) -> float:
    raise StopReadingError(0, f"this is no JSON: {constant} is no value")


def _whole(text: str) -> int | float:
    return int(text) if len(text) <= 18 else _finite(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise StopReadingError(0, f'the number "{short(text)}" is too large')
    return number
