"""Page views joined with their users, tested without Spark, a broker or waiting."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")
ANN = {"user": "ann", "country": "NO", "tier": 1}


def test_a_view_is_joined_with_its_user(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("users", ANN)
    app.send("views", {"user": "ann", "page": "/"}, at="2026-01-01T12:00")
    assert app.rows("enriched") == [{"user": "ann", "page": "/", "country": "NO"}]


def test_health_checks_and_unknown_users_are_left_out(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("users", ANN)
    app.send(
        "views", [{"user": "ann", "page": "/health"}, {"user": "zoe", "page": "/"}], at="2026-01-01T12:00"
    )
    assert app.rows("enriched") == []


def test_the_table_survives_a_kill(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP, partitions=8)
    app.send("users", ANN)
    app.kill()
    app.send("views", {"user": "ann", "page": "/cart"}, at="2026-01-01T12:00")
    assert [row["country"] for row in app.rows("enriched")] == ["NO"]
