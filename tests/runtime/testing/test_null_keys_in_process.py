"""Rows whose key is null: what operators that bring keys together do with them, on several partitions."""

from collections.abc import Callable
from typing import Any

import pytest

from streamapp.testing import TestApp
from tests.harness.core.app_resources import app_resource

Start = Callable[..., TestApp]

SALES = {"name": "sales", "columns": "g STRING, h STRING, at TIMESTAMP", "eventTime": {"column": "at"}}
BY_G = {"name": "by-g", "partitionBy": {"from": "sales", "key": "g"}}
SENT = {"name": "sent", "sendTo": {"from": "found", "stream": "out"}}
AT = "2026-01-01T00:00:00Z"
ROWS = [
    {"g": g, "h": h, "at": AT} for _ in range(4) for g in ("a", None) for h in ("x", None) for _ in range(2)
]


def app_of(*operators: dict[str, Any], tables: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return app_resource((BY_G, *operators, SENT), [SALES, {"name": "out"}], tables)


def newest(rows: list[dict[str, Any]], *names: str) -> dict[tuple[Any, ...], int]:
    return {tuple(row[name] for name in names): row["n"] for row in rows}


@pytest.mark.parametrize("window", [None, {"tumbling": {"size": "1h"}}, {"session": {"gap": "1h"}}])
def test_groups_of_one_column_and_of_several_have_the_same_rows(
    streamapp: Start, window: dict[str, Any] | None
) -> None:
    counted: dict[str, Any] = {"from": "by-g", "aggregates": "count(*) AS n"}
    counted |= {} if window is None else {"window": window, "emit": "onUpdate"}
    by_one = streamapp(app_of({"name": "found", "aggregate": {**counted, "key": "g"}}), partitions=3)
    by_both = streamapp(app_of({"name": "found", "aggregate": {**counted, "key": "g, h"}}), partitions=3)
    for app in (by_one, by_both):
        app.send("sales", ROWS)
    assert newest(by_one.rows("out"), "g") == {("a",): 16}
    assert newest(by_both.rows("out"), "g", "h") == {("a", "x"): 8, ("a", None): 8}


def test_a_process_has_all_rows_without_a_key_in_one_task(streamapp: Start) -> None:
    python = "tests.harness.user_code.kit_code:RowsWithoutKey"
    processed = {"from": "by-g", "python": python, "columns": "rows BIGINT"}
    app = streamapp(app_of({"name": "found", "process": processed}), partitions=3)
    for start in range(0, len(ROWS), 8):
        app.send("sales", ROWS[start : start + 8])
    assert [row["rows"] for row in app.rows("out")] == [4, 8, 12, 16]


def test_a_row_without_a_key_meets_nothing_in_a_table_and_writes_none(streamapp: Start) -> None:
    table = {"name": "seen", "columns": "g STRING, h STRING, at TIMESTAMP"}
    joined = {"from": "by-g", "table": "seen", "type": "left", "select": "g, seen.h AS seen_h"}
    app = streamapp(
        app_of(
            {"name": "noted", "sendToTable": {"from": "by-g", "table": "seen"}},
            {"name": "found", "joinTable": joined},
            tables=(table,),
        ),
        partitions=3,
    )
    app.send("sales", ROWS[:8])
    assert set(app.table("seen")) == {"a"}
    assert [row["seen_h"] for row in app.rows("out") if row["g"] is None] == [None] * 4
