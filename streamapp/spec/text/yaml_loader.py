"""YAML text as plain values, with the line of each, safe against hostile input.

A loop, not recursion, consumes the parser's events and checks every limit at each event: deeply nested
brackets or an alias bomb stop at the limit, not at the end of memory.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml

from streamapp.spec.problem import Problem, short
from streamapp.spec.text.document import (
    DEEPEST,
    MOST_BYTES,
    MOST_VALUES,
    Document,
    LoadedDocuments,
    Path,
    StopReadingError,
    dotted,
)
from streamapp.spec.text.yaml_scalars import scalar_value


def read_yaml(text: str) -> LoadedDocuments:
    """The documents of a YAML text, up to the first place that cannot be read."""
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=_loader()):
            reader.take(event)
    except StopReadingError as stop:
        reader.problems.append(stop.problem)
    except yaml.YAMLError as error:
        reader.problems.append(_yaml_problem(text, error))
    return LoadedDocuments(tuple(reader.documents), tuple(reader.problems))


def _loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def yaml_error(error: yaml.YAMLError) -> tuple[int, str]:
    """The line of an error of the parser, 0 where the parser names none, and what is wrong there."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return 0, str(error).splitlines()[0]
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 0, error.problem or error.context or "it cannot be read"


def _yaml_problem(text: str, error: yaml.YAMLError) -> Problem:
    """The parser's error with its line; an indenting tab has a message of its own."""
    line, message = yaml_error(error)
    lines = text.splitlines()
    if (
        0 < line <= len(lines)
        and "\t" in lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    ):
        message = "a tab indents this line; YAML is indented by spaces"
    return Problem(0, line, "", f"this is no YAML: {message}")


@dataclass(frozen=True, slots=True)
class _Size:
    """The size that a value adds to a document each time an alias repeats the value."""

    values: int
    characters: int


@dataclass(slots=True)
class _OpenCollection:
    """A mapping or sequence whose end event has not come yet."""

    value: dict[str, Any] | list[Any]
    path: Path
    anchor: str | None
    before: _Size  # the document's size when the collection began
    key: str | None = None


@dataclass(slots=True)
class _Reader:
    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    stack: list[_OpenCollection] = field(default_factory=list)
    lines: dict[Path, int] = field(default_factory=dict)
    anchors: dict[str, tuple[Any, _Size]] = field(default_factory=dict)  # of finished values
    root: Any = None
    values: int = 0
    characters: int = 0

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
                self.open(event, line)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self.close()
            case _:
                pass

    def open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, line: int) -> None:
        if len(self.stack) >= DEEPEST:
            raise StopReadingError(line, f"nested more than {DEEPEST} deep")
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        before = _Size(self.values, self.characters)
        self.stack.append(_OpenCollection(value, self.put(value, line, _Size(1, 0)), event.anchor, before))

    def close(self) -> None:
        closed = self.stack.pop()
        if closed.anchor:
            size = _Size(self.values - closed.before.values, self.characters - closed.before.characters)
            self.anchors[closed.anchor] = (closed.value, size)

    def scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        value = _scalar_value(event, line)
        size = _Size(1, len(event.value))
        if event.anchor:
            self.anchors[event.anchor] = (value, size)
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            self.key(top, top.value, event.value, line)
        else:
            self.put(value, line, size)

    def key(self, top: _OpenCollection, fields: dict[str, Any], name: str, line: int) -> None:
        if name == "<<":
            message = "merging with << is not understood here; write the fields out"
            raise StopReadingError(line, message, top.path)
        top.key = name
        self.characters += len(name)
        if name in fields:
            message = f'the field "{short(name)}" occurs twice in one mapping'
            self.problems.append(Problem(0, line, dotted((*top.path, name)), message))

    def alias(self, anchor: str, line: int) -> None:
        if anchor not in self.anchors:
            message = f'the alias "*{short(anchor)}" is inside its own anchor, or has no anchor'
            raise StopReadingError(line, message)
        value, size = self.anchors[anchor]
        self.put(value, line, size)

    def put(self, value: Any, line: int, size: _Size) -> Path:
        """Put a value into the open collection, and count its size."""
        self.values += size.values
        self.characters += size.characters
        if self.values > MOST_VALUES:
            raise StopReadingError(line, f"more than {MOST_VALUES:,} values, aliases counted each time")
        if self.characters > MOST_BYTES:
            raise StopReadingError(line, f"more than {MOST_BYTES:,} characters, aliases counted each time")
        path: Path = ()
        if not self.stack:
            self.root = value
        else:
            top = self.stack[-1]
            if isinstance(top.value, list):
                path = (*top.path, len(top.value))
                top.value.append(value)
            elif top.key is None:
                message = "a field's name must be a plain word, not a list, a mapping or an alias"
                raise StopReadingError(line, message, top.path)
            else:
                path = (*top.path, top.key)
                top.value[top.key] = value
                top.key = None
        self.lines[path] = line
        return path


def _scalar_value(event: yaml.ScalarEvent, line: int) -> Any:
    text: str = event.value
    if event.tag and event.tag not in {"!", "tag:yaml.org,2002:str"}:
        raise StopReadingError(line, f'the tag "{short(event.tag)}" is not allowed; leave it out')
    return text if event.style or event.tag else scalar_value(text)
