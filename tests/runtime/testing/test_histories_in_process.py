"""An app that reads a table to its end, and then goes on with a topic."""

from collections.abc import Callable
from typing import Any

from streamapp.testing import TestApp
from tests.harness.core.app_resources import EMBEDDED, app_resource

Start = Callable[..., TestApp]

COLUMNS = {"key": "page", "columns": "page STRING, n INT, at TIMESTAMP", "eventTime": {"column": "at"}}
FILES = {"name": "exports", "files": {"path": "exports", "format": "csv"}}
WINDOWS = {
    "name": "hours",
    "aggregate": {
        "from": "all",
        "key": "page",
        "aggregates": "sum(n) AS n",
        "window": {"tumbling": {"size": "1h"}},
    },
}


def windows_app() -> dict[str, Any]:
    return app_resource(
        [
            {"name": "all", "merge": {"from": ["history", "views"]}},
            WINDOWS,
            {"name": "send", "sendTo": {"from": "hours", "stream": "out"}},
        ],
        [
            {"name": "history", "system": "exports", "partitions": 2, **COLUMNS},
            {"name": "views", **COLUMNS, "after": "history"},
            {"name": "out"},
        ],
        systems=[EMBEDDED, FILES],
    )


def view(page: str, n: int, at: str) -> dict[str, Any]:
    return {"page": page, "n": n, "at": f"2026-01-31T{at}:00Z"}


def sums(app: TestApp) -> dict[tuple[str, int], int]:
    return {(row["page"], row["window_start"].hour): row["n"] for row in app.rows("out")}


def test_a_window_has_rows_of_both_and_the_end_of_the_table_holds_nothing_back(streamapp: Start) -> None:
    app = streamapp(windows_app(), partitions=2)
    app.send("history", [view("a", 1, "08:10"), view("b", 2, "08:20"), view("a", 4, "09:50")])
    app.send("views", [view("a", 8, "09:55"), view("b", 16, "09:56")])
    assert sums(app) == {("a", 8): 1, ("b", 8): 2}
    app.send("views", [view("a", 32, "10:01"), view("b", 64, "10:02")])
    assert sums(app) == {("a", 8): 1, ("b", 8): 2, ("a", 9): 12, ("b", 9): 16}


def test_a_restart_knows_that_the_table_has_ended(streamapp: Start) -> None:
    app = streamapp(windows_app(), partitions=2)
    app.send("history", view("a", 1, "08:10"))
    app.restart()
    app.send("views", [view("a", 2, "08:20"), view("a", 4, "09:10"), view("b", 8, "09:20")])
    app.kill()
    app.send("views", [view("a", 4, "11:10"), view("b", 8, "11:20")])
    assert sums(app) == {("a", 8): 3, ("a", 9): 4, ("b", 9): 8}


def test_an_empty_table_holds_nothing_back(streamapp: Start) -> None:
    app = streamapp(windows_app())
    app.send("views", [view("a", 2, "08:20"), view("a", 4, "09:10")])
    assert sums(app) == {("a", 8): 2}
