"""A table that follows a database's table, tested without Spark, a catalog or waiting."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")
BOOTS = {"id": 1, "name": "boots", "price": "JxA=", "updated_at": "2026-01-01T12:00:00Z"}
HAT = {"id": 2, "name": "hat", "price": "AMg=", "updated_at": "2026-01-01T12:00:00Z"}


def change(op: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> bytes:
    """A change as Debezium writes it."""
    return json.dumps({"before": before, "after": after, "op": op}).encode()


def prices(app: TestApp) -> dict[int, Decimal]:
    return {row["id"]: row["price"] for row in app.sink_rows("products")}


def test_the_table_has_the_rows_of_the_snapshot_and_of_the_changes_behind_it(
    streamapp: Callable[..., TestApp],
) -> None:
    app = streamapp(APP)
    app.send("changes", [change("r", None, BOOTS), change("c", None, HAT)])
    assert prices(app) == {1: Decimal("100.00"), 2: Decimal("2.00")}
    app.send("changes", change("u", None, {**BOOTS, "price": "H0A="}))
    assert prices(app) == {1: Decimal("80.00"), 2: Decimal("2.00")}


def test_a_row_that_is_deleted_leaves_the_table(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("changes", [change("r", None, BOOTS), change("r", None, HAT)])
    app.send("changes", change("d", {"id": 1}, None))
    app.delete("changes", "1")  # Debezium writes a tombstone behind a deletion
    assert prices(app) == {2: Decimal("2.00")}


def test_a_row_comes_back_under_its_key(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("changes", [change("c", None, BOOTS), change("d", {"id": 1}, None)])
    app.send("changes", change("c", None, {**BOOTS, "name": "tall boots"}))
    assert [row["name"] for row in app.sink_rows("products")] == ["tall boots"]
