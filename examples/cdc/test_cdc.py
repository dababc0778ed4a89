"""A table that follows the changes of a database, tested without Spark, a broker or waiting."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")
ANN = {"name": "Ann", "country": "NO"}


def change(op: str, after: dict[str, str] | None, key: str = "c1") -> dict[str, object]:
    return {"id": key, "op": op, "after": after}


def test_the_table_has_the_row_after_the_last_change(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("changes", [change("c", ANN), change("u", {**ANN, "country": "SE"})])
    app.send("orders", {"number": "o1", "customer": "c1", "cents": 500})
    assert app.table("customers") == {"c1": {"name": "Ann", "country": "SE"}}
    assert app.rows("shipped-to") == [
        {"number": "o1", "customer": "c1", "name": "Ann", "country": "SE", "cents": 500}
    ]


def test_a_deletion_takes_the_row_away_and_orders_go_on(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("changes", [change("c", ANN), change("d", None)])
    app.delete("changes", "c1")  # Debezium writes a tombstone behind a deletion
    app.send("orders", {"number": "o1", "customer": "c1", "cents": 500})
    assert app.table("customers") == {}
    assert [row["name"] for row in app.rows("shipped-to")] == [None]


def test_a_tombstone_alone_deletes_too(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP, partitions=4)
    app.send("changes", [change("r", ANN), change("r", ANN, key="c2")])
    app.delete("changes", "c1")
    assert list(app.table("customers")) == ["c2"]
    assert app.spark_reasons == ()
