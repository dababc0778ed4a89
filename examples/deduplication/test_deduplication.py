"""Events that pass once, tested in the test's own process: breakpoints stop in first_seen.py."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")


def delivery(key: str, time: str) -> dict[str, str]:
    return {"id": key, "kind": "paid", "ts": f"2026-01-01T12:{time}:00Z"}


def passed(app: TestApp) -> list[str]:
    return [row["id"] for row in app.rows("events")]


def test_an_event_passes_once_in_a_batch_and_across_batches(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("deliveries", [delivery("e1", "00"), delivery("e1", "01"), delivery("e2", "01")])
    app.send("deliveries", delivery("e1", "09"))
    assert passed(app) == ["e1", "e2"]


def test_it_passes_again_after_ten_minutes(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("deliveries", delivery("e1", "00"))
    app.send("deliveries", delivery("e1", "10"))
    assert passed(app) == ["e1", "e1"]


def test_state_holds_only_the_last_ten_minutes(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    for minute in range(0, 60, 5):
        app.send("deliveries", delivery(f"e{minute}", f"{minute:02}"))
    remembered = [row["key"] for row in app.state("first-seen") if row["key"].startswith("seen/")]
    assert sorted(remembered) == ["seen/e50", "seen/e55"]


def test_a_batch_that_is_killed_and_repeated_lets_nothing_through_twice(
    streamapp: Callable[..., TestApp],
) -> None:
    app = streamapp(APP)
    app.kill(before_commit=True)
    app.send("deliveries", delivery("e1", "00"))
    app.send("deliveries", delivery("e1", "01"))
    assert passed(app) == ["e1"]
