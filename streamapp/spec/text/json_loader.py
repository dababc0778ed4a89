"""JSON text as plain values: one object after another, each field once, no number or depth out of bounds."""

import json
import math
from collections import Counter
from typing import Any

from streamapp.spec.problem import Problem, short
from streamapp.spec.text.document import DEEPEST, Document, LoadedDocuments, StopReadingError, dotted, walk
from streamapp.spec.text.value_limits import first_invalid_value


class _Twice(dict[str, Any]):
    """An object in which fields stand more than once, kept apart until its path is known."""

    fields: tuple[str, ...] = ()


def read_json(text: str) -> LoadedDocuments:
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
    return LoadedDocuments(tuple(documents), tuple(problems))


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _checked(data: Any) -> list[Problem]:
    """Every field that stands twice; a document that may not be at all ends the reading."""
    if found := first_invalid_value(data):
        path, message = found
        raise StopReadingError(0, message, path)
    return [
        Problem(0, 0, dotted((*path, name)), f'the field "{short(name)}" stands twice in one object')
        for path, value in walk(data)
        if isinstance(value, _Twice)
        for name in value.fields
    ]


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
