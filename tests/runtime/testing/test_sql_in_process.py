"""What only Spark's SQL computes: one shared JVM, and which expression needs it."""

from collections.abc import Callable
from typing import Any

import pytest

from streamapp.testing import AppRefusedError, TestApp
from streamapp_runtime.testing.shared_jvm import end_shared_jvm, server_folder
from tests.harness.core.app_resources import app_resource

Start = Callable[..., TestApp]
pytestmark = pytest.mark.usefixtures("kit_jvm")


def mapping(select: str, **spec: Any) -> dict[str, Any]:
    streams = [
        {"name": "views", "key": "user", "columns": "user STRING, page STRING"},
        {"name": "users", "key": "user", "columns": "user STRING, country STRING"},
        {"name": "out", "key": "user"},
    ]
    operators = [
        {"name": "mapped", "map": {"from": "views", "select": select}},
        {"name": "joined", "joinTable": {"from": "mapped", "table": "users", "type": "left"}},
        {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
    ]
    tables = [{"name": "users", "sideInputs": [{"stream": "users"}]}]
    return app_resource(operators, streams, tables, **spec)


def test_an_expression_of_sparks_is_computed_between_the_layers_and_named(streamapp: Start) -> None:
    app = streamapp(mapping("user, upper(initcap(page)) AS page"))
    app.send("users", {"user": "ann", "country": "NO"})
    app.send("views", [{"user": "ann", "page": "/a"}, {"user": "bob", "page": None}])
    assert [(row["user"], row["page"], row["country"]) for row in app.rows("out")] == [
        ("ann", "/A", "NO"),
        ("bob", None, None),
    ]
    assert app.spark_reasons == ("spec.operators[0].map.select: user, upper(initcap(page)) AS page",)


def test_all_tests_share_the_jvm_of_the_process_which_is_no_session(streamapp: Start) -> None:
    folders = set()
    for _ in range(2):
        streamapp(mapping("user, upper(initcap(page)) AS page")).send("views", {"user": "ann", "page": "/a"})
        folders.add(server_folder())
    assert len(folders) == 1


def test_a_jvm_that_was_ended_is_started_again(streamapp: Start) -> None:
    app = streamapp(mapping("user, upper(initcap(page)) AS page"))
    app.send("views", {"user": "ann", "page": "/a"})
    end_shared_jvm()
    app.send("views", {"user": "ann", "page": "/b"})
    assert [row["page"] for row in app.rows("out")] == ["/A", "/B"]


def test_rows_on_which_an_expression_fails_are_found(streamapp: Start) -> None:
    app = streamapp(mapping("user, int(page) AS page", onBadRecord={"action": "skip"}))
    app.send(
        "views", [{"user": "ann", "page": "1"}, {"user": "bob", "page": "x"}, {"user": "cid", "page": "3"}]
    )
    assert [row["page"] for row in app.rows("out")] == [1, 3]
    assert [(bad.offset, bad.key) for bad in app.bad()] == [(1, b"bob")]


def test_a_wrong_expression_is_refused_as_spark_refuses_it() -> None:
    with pytest.raises(AppRefusedError, match=r"spec.operators\[0\].map.select"):
        TestApp(mapping("user, upper(page, 1) AS page"))


def test_state_and_expressions_survive_a_kill(streamapp: Start) -> None:
    app = streamapp(mapping("user, upper(initcap(page)) AS page"))
    app.send("users", {"user": "ann", "country": "NO"})
    app.kill(before_commit=True)
    app.send("views", {"user": "ann", "page": "/a"})
    app.kill()
    app.send("views", {"user": "ann", "page": "/b"})
    assert [(row["page"], row["country"]) for row in app.rows("out")] == [("/A", "NO"), ("/B", "NO")]
