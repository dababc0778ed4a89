"""Columns of what records have beside their values, in whole apps in the test's own process."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamapp.testing import AppRefusedError, TestApp
from tests.harness.core.app_resources import EVERY_FIELD, app_resource

Start = Callable[..., TestApp]
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
OUT = {"name": "out"}
HEADER_LIST = "headers ARRAY<STRUCT<name: STRING, value: BINARY>>"


def _views(**fields: Any) -> dict[str, Any]:
    return {"name": "views", "columns": "page STRING", **fields}


def _sent(source: str) -> dict[str, Any]:
    return {"name": "sent", "sendTo": {"from": source, "stream": "out"}}


def test_each_field_of_a_record_is_a_column_behind_a_repartition_too(streamapp: Start) -> None:
    repartitioned = {"name": "by-page", "partitionBy": {"from": "views", "key": "page"}}
    views = _views(topic="shop.views", metadata=EVERY_FIELD)
    app = streamapp(app_resource([repartitioned, _sent("by-page")], [views, OUT]), at=START)
    app.send("views", {"page": "/a"}, key="k1", headers=[("t", "1"), ("u", None), ("t", b"\xff")])
    app.send("views", {"page": "/b"}, at=START + timedelta(seconds=2))
    assert sorted(app.rows("out"), key=lambda row: row["at"]) == [
        {
            "page": "/a",
            "id": "k1",
            "sent_at": START,
            "place": 0,
            "at": 0,
            "source": "shop.views",
            "h": [("u", None), ("t", b"\xff")],
            "every": [
                {"name": "t", "value": b"1"},
                {"name": "u", "value": None},
                {"name": "t", "value": b"\xff"},
            ],
        },
        {
            "page": "/b",
            "id": None,
            "sent_at": START + timedelta(seconds=2),
            "place": 0,
            "at": 1,
            "source": "shop.views",
            "h": [],
            "every": [],
        },
    ]


def test_expressions_and_own_code_use_columns_of_records_as_they_use_others(streamapp: Start) -> None:
    python = {"python": "tests.harness.user_code.kit_code:tenants", "columns": "page STRING, tenant BINARY"}
    operators = [
        {"name": "second", "filter": {"from": "views", "where": "at >= 1 AND place = 0"}},
        {"name": "called", "map": {"from": "second", **python}},
        {
            "name": "chosen",
            "map": {"from": "second", "select": "page, h['tenant'] AS tenant"},
        },
        {"name": "both", "merge": {"from": ["called", "chosen"]}},
        _sent("both"),
    ]
    app = streamapp(app_resource(operators, [_views(metadata=EVERY_FIELD), OUT]))
    app.send("views", [{"page": "/a"}, {"page": "/b"}], headers={"tenant": "north"})
    assert app.rows("out") == [{"page": "/b", "tenant": b"north"}] * 2


@pytest.mark.parametrize("named", ["headers MAP<STRING, BINARY>", HEADER_LIST])
def test_headers_that_own_code_hands_on_are_those_of_its_outputs(streamapp: Start, named: str) -> None:
    python = {
        "python": "tests.oracle.cases.own_code:count_nulls",
        "columns": f"page STRING, {named}, nulls BIGINT",
    }
    (column, _), field = named.split(" ", 1), "headers" if "MAP" in named else "headerList"
    operators = [
        {"name": "handed", "map": {"from": "views", **python}},
        {"name": "sent", "sendTo": {"from": "handed", "stream": "out", "headers": column}},
    ]
    app = streamapp(app_resource(operators, [_views(metadata={field: column}), OUT]))
    app.send("views", {"page": "/a"}, headers=[("t", b"1")])
    assert [record.headers for record in app.records("out")] == [(("t", b"1"),)]
    assert app.spark_reasons == ()


def test_the_records_key_may_be_the_key_of_a_stream_that_has_it_in_no_column(streamapp: Start) -> None:
    counted = {"name": "counted", "aggregate": {"from": "views", "key": "id", "aggregates": "count(*) AS n"}}
    views = _views(key="id", metadata={"key": "id", "keyFormat": "string"})
    app = streamapp(app_resource([counted, _sent("counted")], [views, OUT]), partitions=4)
    for key in ("ann", "bob", "ann"):
        app.send("views", {"page": "/"}, key=key)
    assert [(row["id"], row["n"]) for row in sorted(app.rows("out"), key=str)] == [
        ("ann", 1),
        ("ann", 2),
        ("bob", 1),
    ]


def test_an_output_has_any_expression_as_its_key_which_is_in_no_value(streamapp: Start) -> None:
    operators = [
        {"name": "keyed", "map": {"from": "views", "select": "page, n", "key": "concat(page, ':', n)"}},
        {"name": "chosen", "map": {"from": "keyed", "select": "page"}},
        _sent("chosen"),
    ]
    out = {**OUT, "columns": "page STRING"}
    app = streamapp(app_resource(operators, [_views(columns="page STRING, n INT"), out]))
    app.send("views", [{"page": "/", "n": 1}, {"page": "/a", "n": 2}])
    assert [(one.key, one.row["page"]) for one in app.records("out") if one.row] == [
        ("/:1", "/"),
        ("/a:2", "/a"),
    ]


def test_joins_and_tables_keep_what_their_streams_have_of_records(streamapp: Start) -> None:
    users = {"name": "users", "columns": "country STRING", "key": "id"}
    users |= {"metadata": {"key": "id", "keyFormat": "string", "offset": "seen", "headers": "h"}}
    views = _views(key="user", metadata={"key": "user", "keyFormat": "string", "headerList": "every"})
    operators = [
        {"name": "joined", "join": {"from": ["views", "orders"], "within": "1m", "time": "arrival"}},
        {"name": "known", "joinTable": {"from": "joined", "table": "users"}},
        _sent("known"),
    ]
    orders = {"name": "orders", "key": "user", "columns": "user STRING", "metadata": {"offset": "nr"}}
    table = {"name": "users", "sideInputs": [{"stream": "users", "bootstrap": True}]}
    app = streamapp(app_resource(operators, [users, views, orders, OUT], [table]), partitions=2)
    app.send("users", {"country": "NO"}, key="ann", headers={"t": "1"})
    app.send("views", {"page": "/"}, key="ann", headers={"u": "2"})
    app.send("orders", {"user": "ann"})
    joined = {"page": "/", "user": "ann", "every": [{"name": "u", "value": b"2"}], "nr": 0}
    assert app.rows("out") == [joined | {"country": "NO", "id": "ann", "seen": 0, "h": [("t", b"1")]}]
    app.delete("users", "ann")
    assert app.table("users") == {}


def test_a_key_that_is_no_text_is_bad_where_it_has_to_be_one_and_bytes_elsewhere(streamapp: Start) -> None:
    for key_format, rows in (("string", []), ("bytes", [{"page": "/", "id": b"\xff"}])):
        views = _views(metadata={"key": "id", "keyFormat": key_format})
        app = streamapp(app_resource([_sent("views")], [views, OUT], onBadRecord={"action": "skip"}))
        records = app.encoded("views", [{"page": "/"}])
        app.send_records({"views": records.set_column(0, "key", pa.array([b"\xff"], pa.binary()))})
        assert app.rows("out") == rows
        assert ["no valid UTF-8" in bad.reason for bad in app.bad()] == [True] * (1 - len(rows))


@pytest.mark.parametrize("columns", [{}, {"metadata": {"headers": "h"}}])
@pytest.mark.parametrize("failing", ["reading", "computing"])
def test_a_dead_letter_has_the_headers_of_its_record_and_says_in_further_ones_why(
    streamapp: Start, failing: str, columns: dict[str, Any]
) -> None:
    """Other records have other headers, also those that are read with it."""
    divided = {"name": "divided", "map": {"from": "views", "select": "10 / n AS n"}}
    streams = [_views(columns="n INT", **columns), OUT, {"name": "letters", "columns": "reason STRING"}]
    letters = {"action": "deadLetter", "stream": "letters"}
    app = streamapp(app_resource([divided, _sent("divided")], streams, onBadRecord=letters), at=START)
    bad = b"no JSON" if failing == "reading" else {"n": 0}
    own = [("t", b"1"), ("streamapp.reason", b"of before"), ("t", None)]
    app.send("views", [{"n": 1}, {"n": 2}], headers={"t": "2"})
    app.send("views", bad, headers=own, key="k1")
    app.send("views", {"n": 5})
    (seen,) = app.bad()
    assert (seen.offset, seen.key, seen.headers) == (2, b"k1", tuple(own))
    (letter,) = app.records("letters")
    assert letter.key == "k1"
    assert letter.headers == (
        *own,
        ("streamapp.stream", b"views"),
        ("streamapp.partition", b"0"),
        ("streamapp.offset", b"2"),
        ("streamapp.timestamp", b"%d" % (START.timestamp() * 1000)),
        ("streamapp.reason", seen.reason.encode()),
    )
    assert sorted(row["n"] for row in app.rows("out")) == [2.0, 5.0, 10.0]


def test_a_tombstone_has_null_in_columns_of_its_record(streamapp: Start) -> None:
    app = streamapp(app_resource([_sent("views")], [_views(metadata=EVERY_FIELD), OUT]))
    app.delete("views", "k1")
    assert app.rows("out") == [None]


def test_the_records_own_time_is_event_time_where_the_stream_says_so(streamapp: Start) -> None:
    window = {"tumbling": {"size": "1m"}}
    counted = {
        "name": "counted",
        "aggregate": {"from": "views", "key": "page", "aggregates": "count(*) AS n", "window": window},
    }
    views = _views(key="page", metadata={"timestamp": "sent_at"}, eventTime={"column": "sent_at"})
    app = streamapp(app_resource([counted, _sent("counted")], [views, OUT]), at=START)
    app.send("views", [{"page": "/"}, {"page": "/"}])
    app.send("views", {"page": "/"}, at=START + timedelta(minutes=2))
    (row,) = app.rows("out")
    assert (row["window_start"], row["n"]) == (START, 2)


def test_the_app_of_the_page_carries_a_trace_through_a_repartition(streamapp: Start) -> None:
    page = (Path(__file__).parents[3] / "docs/guide/resource.md").read_text("utf-8")
    section = page.partition("### Columns of the record")[2]
    app = streamapp(section.partition("```yaml\n")[2].partition("```")[0], at=START)
    for status in (200, 503):
        app.send(
            "requests", {"path": "/", "status": status}, key="ann", headers={"traceparent": f"00-{status}"}
        )
    (row,) = app.rows("failures")
    assert row == {"path": "/", "client": "ann", "sent_at": START, "trace": b"00-503"}
    assert [record.headers for record in app.records("failures")] == [(("traceparent", b"00-503"),)]


def test_records_with_headers_and_without_are_read_from_one_partition(streamapp: Start) -> None:
    views = _views(metadata={"headers": "h", "offset": "at"})
    app = streamapp(app_resource([_sent("views")], [views, OUT]))
    for number in range(130):  # so many small writes are merged into one block
        app.send("views", {"page": "/"}, headers={"n": str(number)} if number % 3 else None)
    assert [row["h"] for row in app.rows("out")] == [
        [("n", str(number).encode())] if number % 3 else [] for number in range(130)
    ]
    assert [record.headers for record in app.records("views")][1:3] == [(("n", b"1"),), (("n", b"2"),)]


def _written(app: TestApp) -> list[tuple[str | None, int, tuple[tuple[str, bytes | None], ...]]]:
    return [(record.key, record.timestamp, record.headers) for record in app.records("out")]


def test_a_record_that_is_written_has_the_time_and_headers_that_are_said(streamapp: Start) -> None:
    columns = "user STRING, ts TIMESTAMP"
    views = {"name": "views", "key": "user", "columns": columns, "metadata": {"headerList": "every"}}
    out = {"name": "out", "key": "user", "columns": columns}
    chosen = {"name": "chosen", "filter": {"from": "views", "where": "user IS NOT NULL"}}
    sent = {"from": "chosen", "stream": "out", "timestamp": "ts", "headers": "every"}
    operators = [chosen, {"name": "sent", "sendTo": sent}]
    app = streamapp(app_resource(operators, [views, out]), at=START)
    app.send("views", {"user": "ann", "ts": START - timedelta(days=1)}, headers=[("a", "1"), ("a", None)])
    app.send("views", {"user": "bob"})
    day, now = 86_400_000, int(START.timestamp() * 1000)
    assert _written(app) == [("ann", now - day, (("a", b"1"), ("a", None))), ("bob", now, ())]


@pytest.mark.parametrize(
    ("field", "found"), [("timestamp", "has to be TIMESTAMP; found STRING"), ("headers", "found STRING")]
)
def test_what_a_record_is_given_has_the_type_of_it(streamapp: Start, field: str, found: str) -> None:
    sent = {"name": "sent", "sendTo": {"from": "views", "stream": "out", field: "page"}}
    with pytest.raises(AppRefusedError, match=rf"operators\[0\].sendTo.{field}: .*{found}"):
        streamapp(app_resource([sent], [_views(), OUT]))


def test_a_tombstone_is_written_with_its_own_time_and_without_headers(streamapp: Start) -> None:
    views = _views(metadata={"timestamp": "sent_at", "headers": "h"})
    to = {"from": "views", "stream": "out", "timestamp": "sent_at", "headers": "h"}
    app = streamapp(app_resource([{"name": "sent", "sendTo": to}], [views, OUT]), at=START)
    app.delete("views", "k1")
    assert _written(app) == [("k1", int(START.timestamp() * 1000), ())]
