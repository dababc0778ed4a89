"""A model over batches, tested by itself and in its app."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")
SAFE = {"id": "p1", "amount": 20.0, "hour": 14, "abroad": False, "age_days": 300}
RISKY = {"id": "p2", "amount": 900.0, "hour": 3, "abroad": True, "age_days": 2}


def test_only_payments_at_risk_are_reviewed(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("payments", [SAFE, RISKY])
    assert [(row["id"], row["amount"]) for row in app.rows("to-review")] == [("p2", 900.0)]
    assert 0.9 < app.rows("to-review")[0]["risk"] < 1


def test_a_payment_without_features_is_scored_as_a_safe_one(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("payments", {"id": "p3"})
    assert app.rows("to-review") == []


def test_no_expression_needs_spark(streamapp: Callable[..., TestApp]) -> None:
    assert streamapp(APP).spark_reasons == ()
