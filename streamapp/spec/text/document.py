"""Loaded documents: plain values with the line of each, and the limits on texts and values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streamapp.spec.problem import Problem, short

Path = tuple[str | int, ...]

MOST_BYTES = 4 * 1024 * 1024
MOST_VALUES = 500_000
DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a text: its values, and the line of each."""

    number: int
    data: Any
    lines: dict[Path, int]


@dataclass(frozen=True, slots=True)
class LoadedDocuments:
    """The documents of a text, and the problems found while reading."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


class StopReadingError(Exception):
    """Reading stops at a problem, and the rest of the text is skipped."""

    def __init__(self, line: int, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.problem = Problem(0, line, dotted(path), message)


def walk(data: Any) -> Iterator[tuple[Path, Any]]:
    """Every value of a document with its path, without recursion."""
    waiting: list[tuple[Path, Any]] = [((), data)]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, dict):
            waiting.extend(((*path, key), inner) for key, inner in value.items())
        elif isinstance(value, list):
            waiting.extend(((*path, index), inner) for index, inner in enumerate(value))


def dotted(path: Path) -> str:
    """A path as people write it: `spec.operators[3].joinTable.table`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{short(step)}" if text else short(step)
    return text
