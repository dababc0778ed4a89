"""A funnel of three steps, tested without Spark, a broker or waiting."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.py")
NOON = 1_767_268_800_000
"""2026-01-01T12:00Z."""


def step(user: str, name: str, minute: int) -> dict[str, object]:
    return {"user": user, "campaign": "shoes", "step": name, "ts": NOON + minute * 60_000}


def counts(app: TestApp) -> list[tuple[int, int, int]]:
    app.send("steps", step("zoe", "view", 24 * 60))  # ends the sessions
    app.send("steps", step("zoe", "view", 48 * 60))  # ends the hour in which they have ended
    row = app.rows("funnel")[0]
    return [(row["viewed"], row["carted"], row["bought"])]


def test_each_visitor_counts_once_at_each_step(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    taken = [("ann", "view", 0), ("ann", "view", 1), ("ann", "cart", 2), ("ann", "buy", 3)]
    taken += [("bob", "view", 1), ("bob", "cart", 2), ("cid", "view", 3)]
    app.send("steps", [step(*one) for one in taken])
    assert counts(app) == [(3, 2, 1)]


def test_a_step_without_the_one_before_it_does_not_count(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("steps", [step("ann", "buy", 0), step("ann", "view", 1), step("bob", "cart", 2)])
    assert counts(app) == [(1, 0, 0)]


def test_no_expression_needs_spark(streamapp: Callable[..., TestApp]) -> None:
    assert streamapp(APP).spark_reasons == ()
