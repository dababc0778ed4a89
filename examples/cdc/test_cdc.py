"""A table that follows the changes of a database, tested without Spark, a broker or waiting."""

import json
from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")
ANN = {"id": "c1", "name": "Ann", "country": "NO"}
ORDER = {"number": "o1", "customer": "c1", "cents": 500}


def change(op: str, before: dict[str, str] | None, after: dict[str, str] | None) -> bytes:
    """A change as Debezium writes it."""
    return json.dumps({"before": before, "after": after, "op": op}).encode()


def test_the_table_has_the_row_after_the_last_change(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("changes", [change("c", None, ANN), change("u", ANN, {**ANN, "country": "SE"})])
    app.send("orders", ORDER)
    assert app.table("customers") == {"c1": {"id": "c1", "name": "Ann", "country": "SE"}}
    assert app.rows("shipped-to") == [{**ORDER, "name": "Ann", "country": "SE"}]


def test_a_deletion_takes_the_row_away_and_orders_go_on(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("changes", ANN)  # a row of a test is one of a snapshot
    app.send("changes", change("d", ANN, None))
    app.delete("changes", "c1")  # Debezium writes a tombstone behind a deletion
    app.send("orders", ORDER)
    assert app.table("customers") == {}
    assert [row["name"] for row in app.rows("shipped-to")] == [None]
