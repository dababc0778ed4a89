"""Loads the documents of a YAML or JSON text; an unreadable text becomes a problem, never an exception."""

import json

from streamapp.spec.problem import Problem
from streamapp.spec.text.document import MOST_BYTES, LoadedDocuments
from streamapp.spec.text.json_loader import read_json
from streamapp.spec.text.yaml_loader import read_yaml

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
