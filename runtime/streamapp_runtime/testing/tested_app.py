"""An app as the kit runs it: the same resource, with its streams in an embedded log.

Rows that production would count and drop go to streams of the kit's own, where a test can see them. So do the
rows of operators that are observed.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from streamapp.author.app_streams import main_inputs, table_streams
from streamapp.dsl import App
from streamapp.spec.parser import ParseResult, parse, parse_data
from streamapp.spec.problem import Problem, nearest
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import traits_of
from streamapp.spec.serialization import as_data
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.testing.kit_errors import WrongUseError

AppSource: TypeAlias = StreamApp | App | Mapping[str, Any] | str | Path
"""A program's app, a resource, its data, its YAML text, or the path of either."""

KIT_SUFFIX: Final = ".test-kit"
"""Of the names of the kit's own streams."""
LATE_STREAM: Final = f"late-rows{KIT_SUFFIX}"
BAD_STREAM: Final = f"bad-records{KIT_SUFFIX}"
_OBSERVED: Final = "observed-"
"""What the names of streams begin with that hold the rows of operators."""
_DATA: Final = "data"


def app_of(source: AppSource, name: str | None = None) -> StreamApp:
    """The app of a source, as it is deployed; AppRefusedError with every problem where it is none."""
    parsed = _parsed(source)
    if parsed.problems:
        raise AppRefusedError(list(parsed.problems))
    apps = [app for app in parsed.apps if name in {None, app.metadata.name}]
    if len(apps) != 1:
        names = ", ".join(app.metadata.name for app in parsed.apps)
        raise WrongUseError(f"the source holds the apps {names}; choose one with name=")
    return apps[0]


def tested_app(app: StreamApp, observed: Sequence[str] = ()) -> StreamApp:
    """The app as it is tested. The rows of the operators that are observed go to streams as well."""
    operators = [one.name for one in app.spec.operators if traits_of(one).hands_on_rows]
    for operator in observed:
        if operator not in operators:
            raise WrongUseError(f'no operator "{operator}" hands on rows{nearest(operator, operators)}')
    return _parse_again(_observing(_without_broker(app), observed, app.spec.home.name))


def observed_streams(app: StreamApp) -> dict[str, str]:
    """The streams that hold the rows of observed operators, by operator."""
    sinks = [operator.send_to for operator in app.spec.operators if operator.send_to is not None]
    return {
        sink.source: sink.stream
        for sink in sinks
        if sink.stream.startswith(_OBSERVED) and sink.stream.endswith(KIT_SUFFIX)
    }


_OF_TABLES: Final = frozenset({"primaryKey", "partitions", "refresh", "after"})


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


def _without_broker(app: StreamApp) -> dict[str, Any]:
    data, home = as_data(app), app.spec.home
    spec = dict(data["spec"])
    spec["systems"] = [
        {"name": system.name, "home": system is home, **_kind_in_a_test(declared)}
        for system, declared in zip(app.spec.systems, spec["systems"], strict=True)
    ]
    spec.setdefault("partitionSettle", "0s")  # as on any embedded log: the kit is the only producer
    streams = [_without_table_fields(stream) for stream in spec["streams"]]
    tables = [_in_versions(table, refreshed_streams(app)) for table in spec.get("tables", ())]
    if spec.get("lateRows", {}).get("action", "drop") == "drop":
        spec["lateRows"] = {"action": "stream", "stream": LATE_STREAM}
        streams.append({"name": LATE_STREAM, "system": home.name})
    for policy in ("onBadRecord", "onCodeError"):
        rule = spec.get(policy, {})
        if rule.get("action") == "skip":
            spec[policy] = {**rule, "action": "deadLetter", "stream": BAD_STREAM}
    if BAD_STREAM in {spec.get(policy, {}).get("stream") for policy in ("onBadRecord", "onCodeError")}:
        streams.append({"name": BAD_STREAM, "system": home.name})
    return {**data, "spec": {**spec, "streams": streams, **({"tables": tables} if tables else {})}}


def ended_inputs(app: StreamApp) -> frozenset[str]:
    """The tables that operators of an app in stream mode read: they end behind the rows that were sent."""
    return main_inputs(app) & table_streams(app) if app.spec.mode == "stream" else frozenset()


def refreshed_streams(app: StreamApp) -> frozenset[str]:
    """The tables that the app reads again and again: in a test each send to one is a version of it."""
    return frozenset(stream.name for stream in app.spec.streams if stream.refresh is not None)


def _in_versions(table: Mapping[str, Any], refreshed: Collection[str]) -> dict[str, Any]:
    """The table, whose versions end as the kit ends them where its stream stands in for such a table."""
    sides = [
        side | ({"versions": "nullKey"} if side["stream"] in refreshed else {})
        for side in table.get("sideInputs", ())
    ]
    return {**table, **({"sideInputs": sides} if sides else {})}


def _without_table_fields(stream: Mapping[str, Any]) -> dict[str, Any]:
    """The stream that stands in for a table: a test sees each row that is written, and sends others."""
    return {name: value for name, value in stream.items() if name not in _OF_TABLES}


def _kind_in_a_test(declared: Mapping[str, Any]) -> dict[str, Any]:
    """The kind of a system whose streams are in a log: a cluster only where its registry is asked."""
    kafka = declared.get("kafka", {})
    if "schemaRegistry" not in kafka:
        return {"embedded": {"path": _DATA}}
    return {"kafka": {name: value for name, value in kafka.items() if name != "configSecret"}}


def _observing(data: dict[str, Any], observed: Sequence[str], home: str) -> dict[str, Any]:
    """The resource with a sink for the rows of each of these operators."""
    spec = data["spec"]
    names = {operator: f"{_OBSERVED}{number}{KIT_SUFFIX}" for number, operator in enumerate(observed)}
    streams = [{"name": name, "system": home} for name in names.values()]
    sinks = [
        {"name": f"to-{name}", "sendTo": {"from": operator, "stream": name}}
        for operator, name in names.items()
    ]
    more = {"streams": [*spec["streams"], *streams], "operators": [*spec.get("operators", ()), *sinks]}
    return {**data, "spec": {**spec, **more}}


def _parse_again(data: dict[str, Any]) -> StreamApp:
    result = parse_data(data)
    if result.problems:
        raise AppRefusedError(list(result.problems))
    return result.apps[0]
