"""The rows of tables, as a test of an app sees them without a database or a lake."""

from collections.abc import Callable
from typing import Any

import pytest

from streamapp.testing import TestApp
from streamapp_runtime.testing.kit_errors import AppFailedError, WrongUseError
from tests.harness.core.app_resources import app_resource

Start = Callable[..., TestApp]
SYSTEMS = [
    {"name": "kafka", "kafka": {"bootstrapServers": "127.0.0.1:1"}},
    {"name": "shop", "postgres": {"servers": "127.0.0.1:2", "database": "shop"}},
    {"name": "lake", "delta": {"path": "s3://nobody/totals"}},
]
SALES = {"name": "sales", "system": "kafka", "columns": "item STRING, n BIGINT", "key": "item"}


def _table(system: str, **fields: Any) -> dict[str, Any]:
    return {"name": "totals", "system": system, "columns": "item STRING, n BIGINT", "key": "item", **fields}


def _app(table: dict[str, Any]) -> dict[str, Any]:
    sent = {"name": "sent", "sendTo": {"from": "sales", "stream": "totals"}}
    return app_resource(systems=SYSTEMS, streams=[SALES, table], operators=[sent])


def test_a_table_with_a_primary_key_has_the_newest_row_of_each_key(streamapp: Start) -> None:
    app = streamapp(_app(_table("shop", primaryKey=["item"])), partitions=2)
    assert app.sink_rows("totals") == []
    app.send("sales", [{"item": item, "n": n} for n, item in enumerate("abcab")])
    assert sorted(app.sink_rows("totals"), key=str) == [
        {"item": "a", "n": 3},
        {"item": "b", "n": 4},
        {"item": "c", "n": 2},
    ]
    assert len(app.rows("totals")) == 5  # what was sent
    app.kill()
    app.send("sales", {"item": "c", "n": 9})
    assert {"item": "c", "n": 9} in app.sink_rows("totals")


def test_a_table_without_one_has_all_rows(streamapp: Start) -> None:
    app = streamapp(_app(_table("lake")))
    app.send("sales", [{"item": "a", "n": 1}, {"item": "a", "n": 2}])
    assert app.sink_rows("totals") == [{"item": "a", "n": 1}, {"item": "a", "n": 2}]


def test_a_row_that_the_table_refuses_fails_as_in_production(streamapp: Start) -> None:
    app = streamapp(_app(_table("shop", primaryKey=["item", "n"])))
    app.send("sales", {"item": "a", "n": None})
    with pytest.raises(AppFailedError, match='table "totals": "n" of the primary key is null in a row'):
        app.sink_rows("totals")


def test_a_stream_that_goes_to_no_table_is_refused_with_the_nearest_that_does(streamapp: Start) -> None:
    app = streamapp(_app(_table("shop")))
    with pytest.raises(WrongUseError, match='no stream "total" goes to a table; did you mean "totals"'):
        app.sink_rows("total")
    with pytest.raises(WrongUseError, match='no stream "sales" goes to a table'):
        app.sink_rows("sales")


def test_an_edit_moves_the_rows_to_another_kind_of_table(streamapp: Start) -> None:
    app = streamapp(_app(_table("shop", primaryKey=["item"])))
    app.send("sales", [{"item": "a", "n": 1}, {"item": "a", "n": 2}])
    app.restart(_app(_table("shop", primaryKey=["item", "n"])))
    assert sorted(app.sink_rows("totals"), key=str) == [{"item": "a", "n": 1}, {"item": "a", "n": 2}]
