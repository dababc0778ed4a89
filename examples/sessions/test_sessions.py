"""Sessions of users, tested without Spark, a broker or waiting."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")


def click(time: str, user: str = "ann") -> dict[str, str]:
    return {"user": user, "page": "/", "ts": f"2026-01-01T{time}:00Z"}


def counts(app: TestApp) -> list[tuple[str, int]]:
    return [(row["user"], row["clicks"]) for row in app.rows("visits")]


def test_clicks_less_than_half_an_hour_apart_are_one_session(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("clicks", [click("12:00"), click("12:20"), click("12:45"), click("14:00")])
    assert counts(app) == [("ann", 3)]


def test_a_session_stays_open_until_the_watermark_has_passed_it(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("clicks", [click("12:00"), click("12:30", user="bob")])
    assert counts(app) == []
    app.send("clicks", click("12:32", user="bob"))
    assert counts(app) == [("ann", 1)]


def test_a_click_that_comes_out_of_order_joins_two_sessions(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("clicks", click("12:00", user="bob"))
    app.send("clicks", [click("12:00"), click("12:40"), click("12:20"), click("14:00", user="bob")])
    assert counts(app) == [("bob", 1), ("ann", 3)]
    assert app.spark_reasons == ()
