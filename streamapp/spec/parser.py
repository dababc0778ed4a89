"""From a text to apps: all problems of all documents at once, or the apps."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from streamapp.spec.problem import Problem, nearest, short
from streamapp.spec.resource.app import API_VERSION, KIND, StreamApp
from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.operators import Operator
from streamapp.spec.resource.systems import System
from streamapp.spec.text.document import Document, Path, dotted
from streamapp.spec.text.loader import load_documents
from streamapp.spec.text.value_limits import first_invalid_value
from streamapp.spec.validation.cross_references import reference_faults
from streamapp.spec.validation.error_messages import describe_value, error_message, is_reported_elsewhere
from streamapp.spec.validation.outline import outline


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The apps and the problems of a text. An app with a problem is not among the apps."""

    apps: tuple[StreamApp, ...]
    problems: tuple[Problem, ...]
    documents: tuple[Document, ...] = field(default=(), compare=False, repr=False)  # of each app's text

    def located(self, app: StreamApp, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Problems of one of the apps that were found later, with their lines in the text."""
        if app not in self.apps or not self.documents:
            return tuple(problems)
        document = self.documents[self.apps.index(app)]
        lines = {dotted(path): line for path, line in document.lines.items()}
        number = document.number if len(self.documents) > 1 else 0
        return tuple(replace(p, document=number, line=_line(lines, p.path)) for p in problems)


def _line(lines: Mapping[str, int], path: str) -> int:
    """The line of what a path names, or of the nearest thing around it."""
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path, 0)


def parse(text: str) -> ParseResult:
    """The apps of a YAML or JSON text. Never raises for what a text holds."""
    reading = load_documents(text)
    problems, apps, documents = list(reading.problems), list[StreamApp](), list[Document]()
    several = len(reading.documents) > 1
    for document in reading.documents:
        app, app_problems = _one(document)
        if several:
            app_problems = [replace(p, document=document.number) for p in app_problems]
        problems += app_problems
        if app and not app_problems:
            apps.append(app)
            documents.append(document)
    if not reading.documents and not problems:
        problems.append(Problem(0, 0, "", f"found nothing; a {KIND} has apiVersion, kind, metadata and spec"))
    if reading.problems:
        return ParseResult((), tuple(sorted(set(problems))))
    return ParseResult(tuple(apps), tuple(sorted(set(problems))), tuple(documents))


def parse_data(data: Any) -> ParseResult:
    """The app of a document that was read elsewhere, such as an object of the cluster or a program's."""
    if invalid_value := first_invalid_value(data):
        return ParseResult((), (Problem(0, 0, dotted(invalid_value[0]), invalid_value[1]),))
    app, problems = _one(Document(0, data, {}))
    return ParseResult((app,) if app and not problems else (), tuple(sorted(set(problems))))


def _one(document: Document) -> tuple[StreamApp | None, list[Problem]]:
    """The app of a document, where it can be one, and its problems."""
    data = document.data
    if not isinstance(data, dict):
        words = f"found {describe_value(data)} where a {KIND} is expected"
        return None, [_problem(document, (), words)]
    if foreign := list(_foreign(data)):
        return None, [_problem(document, path, message) for path, message in foreign]
    faults = (*reference_faults(outline(data)), *_one_kind_each(data), *_config(data))
    problems = [_problem(document, path, message) for path, message in faults]
    app: StreamApp | None = None
    fields = {name: value for name, value in data.items() if name != "status"}  # that is the operator's
    try:
        app = StreamApp.model_validate_json(json.dumps(fields), by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False)
        unreported_details = [d for d in details if not is_reported_elsewhere(d)]
        problems += [_problem(document, d["loc"], error_message(d, StreamApp)) for d in unreported_details]
    return app, problems


def _problem(document: Document, path: Path, message: str) -> Problem:
    line, place = 0, path
    while not (line := document.lines.get(place, 0)) and place:
        place = place[:-1]
    return Problem(0, line, dotted(path), message)


def _foreign(data: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """A document of another kind is told as such, not as a hundred unknown fields."""
    for name, allowed in (("apiVersion", API_VERSION), ("kind", KIND)):
        if data.get(name) != allowed:
            finding = (
                f"found {describe_value(data[name])}; allowed is" if name in data else "missing; it has to be"
            )
            yield (name,), f'{finding} "{allowed}"'


def _one_kind_each(data: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Entries that take exactly one kind: operators and systems."""
    spec = data.get("spec")
    for key, model in (("operators", Operator), ("systems", System)):
        entries = spec.get(key) if isinstance(spec, dict) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, dict):
                continue
            kinds = [k for k in entry if k not in model.always() and entry[k] is not None]
            allowed = ", ".join(model.kinds())
            path: Path = ("spec", key, index)
            if not kinds:
                empty = " and ".join(short(k) for k in entry if k not in model.always())
                yield (
                    path,
                    f"takes exactly one of {allowed}; found {f'an empty {empty}' if empty else 'none'}",
                )
            elif len(kinds) > 1:
                yield path, f"takes exactly one of {allowed}; found {' and '.join(map(short, kinds))}"


def _config(data: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    spec = data.get("spec")
    config = spec.get("config") if isinstance(spec, dict) else None
    for name, value in config.items() if isinstance(config, dict) else ():
        path: Path = ("spec", "config", name)
        key = KEYS.get(name)
        if key is None:
            yield path, f'unknown setting "{short(name)}"{nearest(name, list(KEYS))}'
        elif isinstance(value, str) and not key.fits(value):
            yield path, f"found {describe_value(value)}; allowed is {key.allowed}"
