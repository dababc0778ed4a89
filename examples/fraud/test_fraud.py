"""Cards that are tried, tested in the test's own process: breakpoints stop in card_watch.py."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")


def paid(cents: int, minute_and_second: str, card: str = "7001") -> dict[str, object]:
    return {"card": card, "cents": cents, "ts": f"2026-01-01T12:{minute_and_second}Z"}


def test_a_large_payment_right_after_a_small_one_is_reported(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("payments", [paid(99, "00:00"), paid(80_000, "00:20")])
    assert app.rows("alerts") == [{"card": "7001", "cents": 80_000, "milliseconds_after": 20_000}]


def test_it_is_not_reported_after_a_minute_or_another_payment(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("payments", [paid(99, "00:00"), paid(80_000, "01:01")])
    app.send("payments", [paid(99, "02:00"), paid(2_000, "02:10"), paid(80_000, "02:20")])
    app.send("payments", [paid(99, "03:00"), paid(80_000, "03:10", card="7002")])
    assert app.rows("alerts") == []


def test_what_is_remembered_survives_a_kill(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP, partitions=4)
    app.send("payments", paid(99, "00:00"))
    app.kill()
    app.send("payments", paid(80_000, "00:20"))
    assert [row["card"] for row in app.rows("alerts")] == ["7001"]
    assert app.state("watched") == []
