"""An app as the kit runs it: the same resource, with its streams in an embedded log.

Rows that production would count and drop go to streams of the kit's own, where a test can see them.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from streamapp.dsl import App
from streamapp.spec.parser import ParseResult, parse, parse_data
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.testing.kit_errors import WrongUseError

AppSource: TypeAlias = StreamApp | App | Mapping[str, Any] | str | Path
"""A program's app, a resource, its data, its YAML text, or the path of either."""

KIT_SUFFIX: Final = ".test-kit"
"""Of the names of the kit's own streams."""
LATE_STREAM: Final = f"late-rows{KIT_SUFFIX}"
BAD_STREAM: Final = f"bad-records{KIT_SUFFIX}"
_DATA: Final = "data"


def tested_app(source: AppSource, name: str | None = None) -> StreamApp:
    """The app of a source; AppRefusedError with every problem where it is none."""
    parsed = _parsed(source)
    if parsed.problems:
        raise AppRefusedError(list(parsed.problems))
    apps = [app for app in parsed.apps if name in {None, app.metadata.name}]
    if len(apps) != 1:
        names = ", ".join(app.metadata.name for app in parsed.apps)
        raise WrongUseError(f"the source holds the apps {names}; choose one with name=")
    return _parse_again(_without_broker(as_data(apps[0])))


def _parsed(source: AppSource) -> ParseResult:
    match source:
        case StreamApp():
            return ParseResult((source,), ())
        case App():
            return source.parsed()
        case Mapping():
            return parse_data(dict(source))
        case str() if "\n" in source:
            return parse(source)
        case _:
            return _parsed_file(Path(source))


def _parsed_file(path: Path) -> ParseResult:
    """The apps of a file, whose folder is where their own code is found."""
    if not path.is_file():
        return ParseResult((), (Problem(0, 0, "", f"there is no file {path}"),))
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if path.suffix != ".py":
        return parse(path.read_text("utf-8"))
    from streamapp.cli.documents.python_program import parse_program

    return parse_program(path)


def _without_broker(data: dict[str, Any]) -> dict[str, Any]:
    spec = dict(data["spec"])
    spec["systems"] = [{"name": system["name"], "embedded": {"path": _DATA}} for system in spec["systems"]]
    main = spec["systems"][0]["name"]
    streams = list(spec["streams"])
    if spec.get("lateRows", {}).get("action", "drop") == "drop":
        spec["lateRows"] = {"action": "stream", "stream": LATE_STREAM}
        streams.append({"name": LATE_STREAM, "system": main})
    for policy in ("onBadRecord", "onCodeError"):
        rule = spec.get(policy, {})
        if rule.get("action") == "skip":
            spec[policy] = {**rule, "action": "deadLetter", "stream": BAD_STREAM}
    if BAD_STREAM in {spec.get(policy, {}).get("stream") for policy in ("onBadRecord", "onCodeError")}:
        streams.append({"name": BAD_STREAM, "system": main})
    return {**data, "spec": {**spec, "streams": streams}}


def _parse_again(data: dict[str, Any]) -> StreamApp:
    result = parse_data(data)
    if result.problems:
        raise AppRefusedError(list(result.problems))
    return result.apps[0]
