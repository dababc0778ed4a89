"""Expressions that workers compute: no session is opened, and rows on which they fail are left out."""

from collections.abc import Callable
from typing import Any

import pytest

from streamapp.testing import AppFailedError, TestApp
from tests.harness.core.app_resources import app_resource

Start = Callable[..., TestApp]
SELECT = (
    "user, n + 1 AS n, CASE WHEN n > 10 THEN 'many' ELSE coalesce(page, '-') END AS page, "
    "1 AS one, CAST(NULL AS DOUBLE) AS nothing"
)


def resource(*operators: dict[str, Any], last: str, **spec: Any) -> dict[str, Any]:
    streams = [
        {"name": "views", "key": "user", "columns": "user STRING, page STRING, n INT"},
        {"name": "users", "key": "user", "columns": "user STRING, age INT"},
        {"name": "out", "key": "user"},
    ]
    sent = {"name": "sent", "sendTo": {"from": last, "stream": "out"}}
    return app_resource([*operators, sent], streams, **spec)


def mapped(select: str, **more: str) -> dict[str, Any]:
    return {"name": "mapped", "map": {"from": "views", "select": select, **more}}


def view(user: str, n: int | None, page: str | None = "/a") -> dict[str, Any]:
    return {"user": user, "page": page, "n": n}


def test_a_map_that_computes_needs_no_session(streamapp: Start) -> None:
    app = streamapp(resource(mapped(SELECT), last="mapped"))
    app.send("views", [view("ann", 1, None), view("bob", 11), view("cid", None)])
    app.delete("views", "dan")
    assert app.spark_reasons == ()
    assert [record.row for record in app.records("out") if record.key == "dan"] == [None]
    assert [row for row in app.rows("out") if row] == [
        {"user": "ann", "n": 2, "page": "-", "one": 1, "nothing": None},
        {"user": "bob", "n": 12, "page": "many", "one": 1, "nothing": None},
        {"user": "cid", "n": None, "page": "/a", "one": 1, "nothing": None},
    ]


def test_values_that_nobody_reads_are_not_computed(streamapp: Start) -> None:
    app = streamapp(resource(mapped("2147483647 - n AS n"), last="views"))
    app.send("views", view("ann", -1))
    assert app.rows("out") == [view("ann", -1)]


def test_computed_rows_go_on_under_a_key_that_is_one_of_their_columns(streamapp: Start) -> None:
    app = streamapp(resource(mapped("page AS user, n * 2 AS n", key="user"), last="mapped"))
    app.send("views", [view("ann", 1), view("bob", 2, None)])
    assert app.spark_reasons == ()
    assert [(record.key, record.row and record.row["n"]) for record in app.records("out")] == [
        ("/a", 2),
        (None, 4),
    ]


def test_rows_on_which_a_worker_fails_are_found_and_left_out(streamapp: Start) -> None:
    bad = {"action": "skip"}
    app = streamapp(resource(mapped("user, n + 1 AS n"), last="mapped", onBadRecord=bad))
    most = 2**31 - 1
    app.send("views", [view("ann", 1), view("bob", most), view("cid", 3), view("dan", most)])
    assert sorted(row["user"] for row in app.rows("out")) == ["ann", "cid"]
    assert sorted((one.key, one.reason) for one in app.bad()) == [
        (key, "Spark says: overflow. Use 'try_add' to tolerate overflow and return NULL instead")
        for key in (b"bob", b"dan")
    ]
    assert app.spark_reasons == ()


def test_an_app_that_ends_at_bad_records_ends_at_such_a_row_and_names_it(streamapp: Start) -> None:
    app = streamapp(resource(mapped("user, 10 / n AS n"), last="mapped"))
    with pytest.raises(
        AppFailedError, match=r'views#\d at offset 0, key "bob": Spark says: Division by zero'
    ):
        app.send("views", [view("bob", 0)])


def test_a_record_on_which_one_branch_fails_reaches_no_other_branch(streamapp: Start) -> None:
    """As where Spark computes it: the record is left out, and not only the row that failed."""
    all_views = {"name": "all", "map": {"from": "views", "select": "user, n"}}
    both = {"name": "both", "merge": {"from": ["mapped", "all"]}}
    made = resource(mapped("user, n + 1 AS n"), all_views, both, last="both", onBadRecord={"action": "skip"})
    app = streamapp(made)
    app.send("views", [view("ann", 1), view("bob", 2**31 - 1)])
    assert sorted((row["user"], row["n"]) for row in app.rows("out")) == [("ann", 1), ("ann", 2)]


def test_a_filter_over_a_computed_value_fails_on_its_rows(streamapp: Start) -> None:
    kept = {"name": "kept", "filter": {"from": "views", "where": "n + 1 > 2"}}
    app = streamapp(resource(kept, last="kept", onBadRecord={"action": "skip"}))
    app.send("views", [view("ann", 1), view("bob", 2), view("cid", 2**31 - 1), view("dan", None)])
    assert [row["user"] for row in app.rows("out")] == ["bob"]
    assert [one.key for one in app.bad()] == [b"cid"]
    assert app.spark_reasons == ()


@pytest.mark.usefixtures("process")
def test_a_total_of_computed_values_blames_the_record_on_which_they_fail(streamapp: Start) -> None:
    total = {"name": "total", "aggregate": {"from": "views", "key": "user", "aggregates": "sum(n * 2) AS n"}}
    app = streamapp(resource(total, last="total", onBadRecord={"action": "skip"}))
    app.send("views", [view("ann", 1), view("ann", 2**30), view("ann", 4)])
    assert app.rows("out")[-1] == {"user": "ann", "n": 10}
    assert [one.offset for one in app.bad()] == [1]


@pytest.mark.usefixtures("session")
def test_rows_on_which_workers_and_spark_fail_are_found_in_one_app(streamapp: Start) -> None:
    shouted = {
        "name": "shouted",
        "map": {"from": "mapped", "select": "user, n, int(float(page)) AS page"},
    }
    made = resource(mapped("user, page, n + 1 AS n"), shouted, last="shouted", onBadRecord={"action": "skip"})
    app = streamapp(made)
    app.send("views", [view("ann", 1, "1"), view("bob", 2**31 - 1, "2"), view("cid", 3, "x")])
    assert [row["user"] for row in app.rows("out")] == ["ann"]
    assert {one.key: one.reason.split(":")[1][:10] for one in app.bad()} == {
        b"bob": " overflow.",
        b"cid": " The value",
    }
