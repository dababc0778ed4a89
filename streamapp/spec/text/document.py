"""What reading a text gives: documents of plain values, where each value stood, and the limits of both."""

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
    """One document of a text: its values, and where each stood."""

    number: int
    data: Any
    lines: dict[Path, int]


@dataclass(frozen=True, slots=True)
class LoadedDocuments:
    """What a text held, and what could not be read in it."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


class StopReadingError(Exception):
    """The rest of the text is not worth reading."""

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
    words = ""
    for step in path:
        if isinstance(step, int):
            words += f"[{step}]"
        else:
            words += f".{short(step)}" if words else short(step)
    return words
