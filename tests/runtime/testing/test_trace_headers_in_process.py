"""Headers of traces on their way through whole apps in the test's own process."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from streamapp.testing import TestApp
from streamapp_runtime.testing.record_rows import with_headers
from tests.harness.core.app_resources import app_resource

Start = Callable[..., TestApp]
Headers = tuple[tuple[str, bytes | None], ...]
VIEWS = {"name": "views", "columns": "user STRING, page STRING, n INT", "key": "user"}
USERS = {"name": "users", "columns": "user STRING, country STRING", "key": "user"}
OUT = {"name": "out"}
BY_N = {"name": "by-n", "partitionBy": {"from": "views", "key": "n"}}


def _sent(source: str, **fields: Any) -> dict[str, Any]:
    return {"name": "sent", "sendTo": {"from": source, "stream": "out", **fields}}


def _trace(number: int) -> Headers:
    """The headers of each third record; others have none of a trace."""
    if number % 3:
        return (("tenant", b"north"),) if number % 3 == 1 else ()
    return (
        ("traceparent", b"00-%d" % number),
        ("baggage", b"a=1"),
        ("tracestate", None),
        ("baggage", b"b=2"),
    )


def _written(app: TestApp, numbers: range) -> None:
    for number in numbers:
        headers = [("tenant", "x"), *_trace(number)] if number % 3 == 0 else _trace(number)
        app.send("views", {"user": f"u{number % 5}", "page": "/", "n": number}, headers=headers)


def _traces(app: TestApp) -> list[tuple[int, Headers]]:
    return sorted((record.row["n"], record.headers) for record in app.records("out") if record.row)


def _passed(numbers: range) -> list[tuple[int, Headers]]:
    return [(number, _trace(number) if number % 3 == 0 else ()) for number in numbers]


def _own(python: str, columns: str) -> dict[str, str]:
    return {"python": f"tests.harness.user_code.operator_code:{python}", "columns": columns}


PASSING: Mapping[str, list[dict[str, Any]]] = {
    "filter": [{"name": "last", "filter": {"from": "views", "where": "n >= 0"}}],
    "map": [{"name": "last", "map": {"from": "views", "select": "n AS m, n"}}],
    "merge": [
        {"name": "even", "filter": {"from": "views", "where": "n % 2 = 0"}},
        {"name": "odd", "filter": {"from": "views", "where": "n % 2 = 1"}},
        {"name": "last", "merge": {"from": ["even", "odd"]}},
    ],
    "repartitions": [BY_N, {"name": "last", "partitionBy": {"from": "by-n", "key": "user"}}],
    "broadcast": [{"name": "last", "broadcast": {"from": "views"}}],
    "table": [
        {"name": "last", "joinTable": {"from": "views", "table": "users", "select": "n, country"}},
    ],
    "running total": [
        {"name": "last", "aggregate": {"from": "views", "key": "user", "aggregates": "max(n) AS n"}}
    ],
}


@pytest.mark.parametrize("name", PASSING)
def test_a_record_passes_its_headers_of_a_trace_to_what_is_made_of_it(streamapp: Start, name: str) -> None:
    partitions = 1 if name == "broadcast" else 3
    streams, table = [VIEWS, USERS, OUT], {"name": "users", "sideInputs": [{"stream": "users"}]}
    operators = [*PASSING[name], _sent("last")]
    app = streamapp(app_resource(operators, streams, [table]), partitions=partitions)
    app.send("users", [{"user": f"u{number}", "country": "NO"} for number in range(5)])
    _written(app, range(12))
    app.restart()
    _written(app, range(12, 30))
    assert _traces(app) == _passed(range(30))


def test_each_row_that_is_made_of_a_record_has_its_headers_where_own_code_says_of_which(
    streamapp: Start,
) -> None:
    """Without `__row` nobody knows it."""
    for python, times in (("twice", 1), ("twice_of_nowhere", 0)):
        made = {
            "name": "made",
            "flatMap": {"from": "views", **_own(python, "user STRING, page STRING, n INT")},
        }
        app = streamapp(app_resource([made, _sent("made")], [VIEWS, OUT]))
        _written(app, range(6))
        passed = _passed(range(6)) if times else [(number, ()) for number in range(6)]
        assert _traces(app) == sorted(passed * 2)


def test_a_window_passes_no_headers_and_a_pair_those_of_the_record_that_came_last(streamapp: Start) -> None:
    views = {**VIEWS, "columns": "user STRING, n INT, at TIMESTAMP", "eventTime": {"column": "at"}}
    others = {**USERS, "name": "others", "columns": "user STRING, m INT"}
    counted = {"aggregates": "max(n) AS n", "window": {"tumbling": {"size": "1m"}}}
    operators = [
        {"name": "counted", "aggregate": {"from": "views", **counted}},
        {"name": "pairs", "join": {"from": ["views", "others"], "within": "1h", "time": "arrival"}},
        _sent("counted"),
        {"name": "paired", "sendTo": {"from": "pairs", "stream": "met"}},
    ]
    app = streamapp(app_resource(operators, [views, others, OUT, {"name": "met"}]))
    app.send("views", {"user": "u", "n": 1, "at": "2026-01-01 00:00:00"}, headers=_trace(3))
    app.send("others", {"user": "u", "m": 1}, headers=_trace(6))
    app.send("views", {"user": "u", "n": 2, "at": "2026-01-01 01:00:00"}, headers=_trace(9))
    assert [record.headers for record in app.records("out")] == [()]
    assert [record.headers for record in app.records("met")] == [_trace(6), _trace(9)]


def test_a_late_row_has_the_headers_of_its_record(streamapp: Start) -> None:
    views = {**VIEWS, "columns": "user STRING, n INT, at TIMESTAMP", "eventTime": {"column": "at"}}
    counted = {"aggregates": "count(*) AS views", "window": {"tumbling": {"size": "1m"}}}
    operators = [
        BY_N,
        {"name": "counted", "aggregate": {"from": "by-n", "key": "n", **counted}},
        _sent("counted"),
    ]
    late = {"lateRows": {"action": "stream", "stream": "late"}}
    app = streamapp(app_resource(operators, [views, OUT, {"name": "late"}], **late))
    app.send("views", {"user": "u", "n": 1, "at": "2026-01-01 01:00:00"}, headers=_trace(3))
    for headers in (_trace(6), _trace(1), ()):
        app.send("views", {"user": "u", "n": 2, "at": "2026-01-01 00:00:00"}, headers=headers)
    assert [seen.headers for seen in app.late()] == [_trace(6), (), ()]


def test_headers_that_an_app_says_are_all_that_a_record_has(streamapp: Start) -> None:
    views = {**VIEWS, "metadata": {"headerList": "every"}}
    app = streamapp(app_resource([BY_N, _sent("by-n", headers="every")], [views, OUT]))
    _written(app, range(1))
    assert _traces(app) == [(0, (("tenant", b"x"), *_trace(0)))]


def test_a_record_without_a_value_passes_them_and_so_do_records_around_one_that_is_bad(
    streamapp: Start,
) -> None:
    skipping = {"onBadRecord": {"action": "skip"}}
    app = streamapp(app_resource([BY_N, _sent("by-n")], [VIEWS, OUT], **skipping), partitions=2)
    _written(app, range(2))
    app.send("views", b"no view", key="u1", headers=_trace(3))
    _written(app, range(2, 9))
    assert _traces(app) == _passed(range(9))
    plain = streamapp(app_resource([_sent("views")], [VIEWS, OUT]))
    tombstone = plain.encoded("views", [b""]).set_column(0, "key", pa.array([b"u1"]))
    tombstone = tombstone.set_column(1, "value", pa.nulls(1, pa.binary()))
    plain.send_records({"views": with_headers(tombstone, _trace(3))})
    assert [(record.row, record.headers) for record in plain.records("out")] == [(None, _trace(3))]
