"""Tables whose rows come as versions, in the kit: what is seen of them, and rows that wait for the first."""

from collections.abc import Callable
from typing import Any

import pytest

from streamapp.testing import AppFailedError, TestApp
from tests.harness.core.app_resources import EMBEDDED, app_resource

Start = Callable[..., TestApp]

VIEWS = {"name": "views", "key": "page", "columns": "page STRING, n INT"}
PRICES = {"name": "prices", "key": "page", "columns": "page STRING, price INT"}
WITH = {"name": "with", "joinTable": {"from": "views", "table": "prices", "select": "n, price"}}
SENT = {"name": "sent", "sendTo": {"from": "with", "stream": "out"}}
END = {"page": None}
KINDS = [("rocksdb", False), ("rocksdb", True), ("lmdb", True), ("memory", True)]


def app_of(store: str, *, broadcast: bool) -> dict[str, Any]:
    side = {"stream": "prices", "bootstrap": True, "versions": "nullKey"}
    table = {"name": "prices", "store": store, "broadcast": broadcast, "sideInputs": [side]}
    return app_resource((WITH, SENT), [VIEWS, PRICES, {"name": "out"}], (table,))


@pytest.mark.parametrize(("store", "broadcast"), KINDS)
def test_the_newest_whole_version_is_seen_although_no_row_came_since(
    streamapp: Start, store: str, broadcast: bool
) -> None:
    app = streamapp(app_of(store, broadcast=broadcast))
    versions = [{"page": "a", "price": 1}, {"page": "b", "price": 1}, END, {"page": "a", "price": 2}]
    app.send("prices", versions)
    assert {key: row["price"] for key, row in app.table("prices").items()} == {"a": 1, "b": 1}
    app.send("prices", END)
    assert {key: row["price"] for key, row in app.table("prices").items()} == {"a": 2}


@pytest.mark.parametrize(("store", "broadcast"), KINDS)
def test_rows_that_wait_for_the_first_version_come_when_it_ends(
    streamapp: Start, store: str, broadcast: bool
) -> None:
    app = streamapp(app_of(store, broadcast=broadcast))
    app.send("views", {"page": "a", "n": 1})
    app.send("prices", {"page": "a", "price": 1})
    assert (app.rows("out"), app.table("prices")) == ([], {})
    app.send("prices", END)
    assert app.rows("out") == [{"n": 1, "price": 1}]


def test_a_turn_without_a_whole_version_fails_with_the_stream(streamapp: Start) -> None:
    app = app_of("rocksdb", broadcast=True)
    batch = streamapp({**app, "spec": {**app["spec"], "mode": "batch"}})
    batch.send("prices", {"page": "a", "price": 1})
    batch.send("views", {"page": "a", "n": 1})
    with pytest.raises(AppFailedError, match='rows wait for the first version of "prices"'):
        batch.run_turn()


def test_each_send_to_a_table_that_is_refreshed_is_a_version(streamapp: Start) -> None:
    prices = {**PRICES, "system": "exports", "partitions": 2, "refresh": "10m"}
    table = {"name": "prices", "broadcast": True, "sideInputs": [{"stream": "prices", "bootstrap": True}]}
    systems = [EMBEDDED, {"name": "exports", "files": {"path": "exports", "format": "csv"}}]
    app = streamapp(app_resource((WITH, SENT), [VIEWS, prices, {"name": "out"}], (table,), systems=systems))
    app.send("prices", [{"page": "a", "price": 1}, {"page": "b", "price": 1}])
    app.send("prices", {"page": "a", "price": 2})
    assert {key: row["price"] for key, row in app.table("prices").items()} == {"a": 2}
    app.send("views", [{"page": "a", "n": 1}, {"page": "b", "n": 2}])
    assert app.rows("out") == [{"n": 1, "price": 2}]
