"""Revenue that late orders correct, tested without Spark, a database or waiting."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")


def order(time: str, amount: str, country: str = "NO") -> dict[str, Any]:
    row = {"number": f"o-{time}", "customer": "c1", "country": country, "amount": amount}
    return {**row, "ts": f"2026-01-01T{time}:00Z"}


def revenue(app: TestApp) -> dict[tuple[str, int], tuple[int, Decimal]]:
    """Orders and revenue by country and hour, as the table has them."""
    rows = app.sink_rows("revenue")
    return {(row["country"], row["hour"].hour): (row["orders"], row["revenue"]) for row in rows}


def test_an_hour_is_a_row_when_the_watermark_has_reached_its_end(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("orders", [order("09:10", "19.90"), order("09:40", "0.10"), order("09:50", "5.00", "SE")])
    assert revenue(app) == {}
    app.send("orders", order("10:05", "7.00"))
    assert revenue(app) == {("NO", 9): (2, Decimal("20.00")), ("SE", 9): (1, Decimal("5.00"))}


def test_a_late_order_takes_the_row_of_its_hour(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("orders", [order("09:10", "19.90"), order("10:10", "7.00")])
    app.send("orders", order("09:20", "0.05"))
    assert revenue(app) == {("NO", 9): (2, Decimal("19.95"))}
    assert len(app.rows("revenue")) == 2  # the second replaces the first


def test_an_order_that_is_more_than_two_hours_late_is_in_another_stream(
    streamapp: Callable[..., TestApp],
) -> None:
    app = streamapp(APP)
    app.send("orders", [order("09:10", "19.90"), order("12:10", "7.00")])
    app.send("orders", order("09:20", "0.05"))
    assert revenue(app) == {("NO", 9): (1, Decimal("19.90"))}
    (late,) = app.late()
    assert (late.operator, late.row["number"]) == ("per-hour", "o-09:20")
    assert app.spark_reasons == ()
