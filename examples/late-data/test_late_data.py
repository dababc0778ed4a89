"""Rows that come late, and too late, tested without Spark, a broker or waiting."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")


def reading(time: str, value: int = 1) -> dict[str, object]:
    return {"sensor": "s1", "value": value, "ts": f"2026-01-01T12:{time}Z"}


def counts(app: TestApp) -> list[tuple[int, int]]:
    return [(row["readings"], row["highest"]) for row in app.rows("minutes")]


def test_rows_within_the_delay_are_on_time(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("readings", reading("00:58"))
    app.send("readings", reading("01:05"))
    app.send("readings", reading("00:56"))  # the watermark is at 00:55
    app.send("readings", reading("01:10"))
    assert counts(app) == [(2, 1)]


def test_a_straggler_corrects_its_minute(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("readings", [reading("00:30"), reading("02:30")])
    app.send("readings", reading("00:40", value=7))
    assert counts(app) == [(1, 1), (2, 7)]
    assert app.late() == []


def test_what_comes_more_than_two_minutes_after_that_is_kept_aside(
    streamapp: Callable[..., TestApp],
) -> None:
    app = streamapp(APP)
    app.send("readings", [reading("00:30"), reading("03:10")])
    app.send("readings", reading("00:40", value=7))
    assert counts(app) == [(1, 1)]
    (late,) = app.late()
    assert (late.operator, late.row["value"]) == ("per-minute", 7)
    assert app.spark_reasons == ()
