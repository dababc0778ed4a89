"""Payments with the features that the model looks at."""

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from math import exp, log1p
from pathlib import Path
from random import Random

from examples.example_data import Event, Row, rows_of

APPS = ("app.yaml",)


def events(chosen: Random, _: datetime) -> Iterator[Event]:
    """Payments of all sizes, at all hours."""
    for number in count():
        yield (
            "payments",
            {
                "id": f"p{number}",
                "amount": round(chosen.lognormvariate(4, 1.2), 2),
                "hour": chosen.randrange(24),
                "abroad": chosen.randrange(5) == 0,
                "age_days": chosen.randrange(400),
            },
        )


def rounds(events: list[Event]) -> list[list[Event]]:
    """All at once."""
    return [events]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """The payments that the model finds to be at risk, one at a time and without numpy."""
    model = json.loads(Path(__file__).with_name("risk_model.json").read_text("utf-8"))
    weights = model["weights"]
    at_risk = []
    for row in rows_of("payments", [event for one in rounds for event in one]):
        total = model["intercept"] + weights["log_amount"] * log1p(row["amount"])
        total += weights["night"] * (row["hour"] < 6)
        total += weights["abroad"] * row["abroad"]
        total += weights["new_account"] * (row["age_days"] < 30)
        risk = 1 / (1 + exp(-total))
        if risk >= model["review_from"]:
            at_risk.append({"id": row["id"], "amount": row["amount"], "risk": round(risk, 6)})
    return {"to-review": at_risk}
