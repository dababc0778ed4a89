"""Loads the documents of a YAML or JSON text; an unreadable text becomes a problem, never an exception."""

import json
import math
from collections import Counter
from typing import Any

from streamapp.spec.problem import Problem, short
from streamapp.spec.text.document import (
    DEEPEST,
    MOST_BYTES,
    Document,
    LoadedDocuments,
    StopReadingError,
    dotted,
    walk,
)
from streamapp.spec.text.value_limits import first_invalid_value
from streamapp.spec.text.yaml_loader import read_yaml


class _DuplicatedFields(dict[str, Any]):
    """An object with repeated fields, marked until its path is known."""

    fields: tuple[str, ...] = ()


def read_json(text: str) -> LoadedDocuments:
    """The objects of a JSON text. A text that is no JSON is a JSONDecodeError."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_build_object,
        parse_constant=_refuse_constant,
        parse_int=_parse_int,
        parse_float=_parse_float,
    )
    documents, problems, position = list[Document](), list[Problem](), _skip_space(text, 0)
    try:
        while position < len(text):
            data, end = decoder.raw_decode(text, position)
            problems += _duplicate_problems(data)
            documents.append(Document(len(documents) + 1, data, {}))
            position = _skip_space(text, end)
    except RecursionError:
        problems.append(StopReadingError(0, f"nested more than {DEEPEST} deep").problem)
    except StopReadingError as stop:
        problems.append(stop.problem)
    return LoadedDocuments(tuple(documents), tuple(problems))


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _duplicate_problems(data: Any) -> list[Problem]:
    """The problems of repeated fields; a document with an invalid value stops the reading."""
    if invalid_value := first_invalid_value(data):
        path, message = invalid_value
        raise StopReadingError(0, message, path)
    return [
        Problem(0, 0, dotted((*path, name)), f'the field "{short(name)}" occurs twice in one object')
        for path, value in walk(data)
        if isinstance(value, _DuplicatedFields)
        for name in value.fields
    ]


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    duplicated = _DuplicatedFields(fields)
    duplicated.fields = tuple(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
    return duplicated


def _refuse_constant(constant: str) -> float:
    raise StopReadingError(0, f"this is no JSON: {constant} is no value")


def _parse_int(text: str) -> int | float:
    return int(text) if len(text) <= 18 else _parse_float(text)


def _parse_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise StopReadingError(0, f'the number "{short(text)}" is too large')
    return number


BYTE_ORDER_MARK = "\ufeff"


def load_documents(text: str) -> LoadedDocuments:
    """The documents of a YAML or JSON text."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        return _unreadable(line, "this is no UTF-8 text; save the file with the encoding UTF-8")
    if size > MOST_BYTES:
        return _unreadable(
            0, f"found {size / 2**20:.1f} MiB; a resource may have at most {MOST_BYTES // 2**20} MiB"
        )
    text = text.removeprefix(BYTE_ORDER_MARK)
    return _load_braces(text) if text.lstrip().startswith("{") else read_yaml(text)


def _load_braces(text: str) -> LoadedDocuments:
    """JSON, or YAML that begins with a mapping in braces; other texts get the likelier format's problem."""
    try:
        return read_json(text)
    except json.JSONDecodeError as error:
        loaded = read_yaml(text)
        if loaded.problems and text.lstrip()[1:].lstrip().startswith('"'):
            return _unreadable(error.lineno, f"this is no JSON: {error.msg}")
        return loaded


def _unreadable(line: int, message: str) -> LoadedDocuments:
    return LoadedDocuments((), (Problem(0, line, "", message),))
