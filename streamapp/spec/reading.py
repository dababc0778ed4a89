"""YAML or JSON text as plain values, with the line of each, safe against hostile input.

The parser's events are consumed by a loop, not by recursion, and every limit is checked as they come:
a nesting of brackets or a bomb of aliases ends at the limit, not at the end of memory.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from streamapp.spec.problem import Problem

Path = tuple[str | int, ...]

MOST_BYTES = 4 * 1024 * 1024
MOST_VALUES = 500_000
DEEPEST = 64
FLAGS = {
    "true": True,
    "yes": True,
    "on": True,
    "y": True,
    "false": False,
    "no": False,
    "off": False,
    "n": False,
}

_number = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_whole = re.compile(r"[-+]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a text: its values, and where each stood."""

    number: int
    data: Any
    lines: dict[Path, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text held, and what could not be read in it."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


def read(text: str) -> Reading:
    """The documents of a YAML or JSON text; one that cannot be read gives a problem, never an exception."""
    size = len(text.encode(errors="replace"))
    if size > MOST_BYTES:
        return _refused(
            0, f"found {size / 2**20:.1f} MiB; a resource may have at most {MOST_BYTES // 2**20} MiB"
        )
    if text.lstrip().startswith("{"):
        return _read_json(text)
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=_loader()):
            reader.take(event)
    except _StopError as stop:
        return Reading((), (*reader.problems, stop.problem))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        return Reading(
            (), (*reader.problems, Problem(0, line, "", f"this is no YAML: {error.problem or error.context}"))
        )
    except yaml.YAMLError as error:
        return _refused(0, f"this is no YAML: {str(error).splitlines()[0]}")
    return Reading(tuple(reader.documents), tuple(reader.problems))


def _loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _refused(line: int, message: str) -> Reading:
    return Reading((), (Problem(0, line, "", message),))


def _read_json(text: str) -> Reading:
    twice: list[str] = []

    def take(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice.extend(sorted({name for name in names if names.count(name) > 1}))
        return found

    def refuse(constant: str) -> float:
        raise ValueError(f"{constant} is no JSON value")

    try:
        data = json.loads(text, object_pairs_hook=take, parse_constant=refuse)
    except json.JSONDecodeError as error:
        return _refused(error.lineno, f"this is no JSON: {error.msg}")
    except ValueError as error:
        return _refused(0, f"this is no JSON: {error}")
    except RecursionError:
        return _refused(0, f"nested more than {DEEPEST} deep")
    for count, (path, _) in enumerate(walk(data)):
        if len(path) > DEEPEST:
            return _refused(0, f"nested more than {DEEPEST} deep")
        if count > MOST_VALUES:
            return _refused(0, f"more than {MOST_VALUES:,} values")
    problems = tuple(Problem(0, 0, "", f'the field "{name}" stands twice in one object') for name in twice)
    return Reading((Document(1, data, {}),), problems)


class _StopError(Exception):
    """The rest of the text is not worth reading."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(0, line, "", message)


@dataclass(slots=True)
class _Open:
    """A mapping or sequence whose end has not come yet."""

    value: dict[str, Any] | list[Any]
    path: Path
    anchor: str | None
    before: int  # values counted when it began
    key: str | None = None


@dataclass(slots=True)
class _Reader:
    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    lines: dict[Path, int] = field(default_factory=dict)
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)  # finished ones: value and size
    root: Any = None
    count: int = 0

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        match event:
            case yaml.DocumentStartEvent():
                self.lines, self.anchors, self.root = {}, {}, None
            case yaml.DocumentEndEvent():
                if self.root is not None:
                    self.documents.append(Document(len(self.documents) + 1, self.root, self.lines))
            case yaml.ScalarEvent():
                self.scalar(event, line)
            case yaml.AliasEvent():
                self.alias(str(event.anchor), line)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                if len(self.stack) >= DEEPEST:
                    raise _StopError(line, f"nested more than {DEEPEST} deep")
                value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
                path = self.put(value, line, 1)
                self.stack.append(_Open(value, path, event.anchor, self.count))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                done = self.stack.pop()
                if done.anchor:
                    self.anchors[done.anchor] = (done.value, self.count - done.before + 1)
            case _:
                pass

    def scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        value = _resolve(event, line)
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            top.key = event.value
            if event.value in top.value:
                self.problems.append(
                    Problem(0, line, "", f'the field "{event.value}" stands twice in one mapping')
                )
            return
        self.put(value, line, 1)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)

    def alias(self, anchor: str, line: int) -> None:
        if anchor not in self.anchors:
            raise _StopError(line, f'the alias "*{anchor}" stands inside what it names, or names nothing')
        value, size = self.anchors[anchor]
        self.put(value, line, size)

    def put(self, value: Any, line: int, size: int) -> Path:
        """Lay a value where it belongs, and count it."""
        self.count += size
        if self.count > MOST_VALUES:
            raise _StopError(line, f"more than {MOST_VALUES:,} values, aliases counted each time")
        path: Path = ()
        if not self.stack:
            self.root = value
        else:
            top = self.stack[-1]
            if isinstance(top.value, list):
                path = (*top.path, len(top.value))
                top.value.append(value)
            elif top.key is None:
                raise _StopError(line, "a field's name must be a plain word, not a list or a mapping")
            else:
                path = (*top.path, top.key)
                top.value[top.key] = value
                top.key = None
        self.lines[path] = line
        return path


def _resolve(event: yaml.ScalarEvent, line: int) -> Any:
    """A scalar's value, by the rules that kubectl's reader follows."""
    text: str = event.value
    if event.tag and event.tag not in {"!", "tag:yaml.org,2002:str"}:
        raise _StopError(line, f'the tag "{event.tag}" is not allowed; leave it out')
    if event.style or event.tag:
        return text
    lowered = text.lower()
    if lowered in {"", "~", "null"}:
        return None
    if lowered in FLAGS:
        return FLAGS[lowered]
    if _whole.fullmatch(text):
        return int(text)
    if _number.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


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
