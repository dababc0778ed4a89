"""Payments of cards; some cards are tried with a small payment before a large one."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from examples.example_data import Event, Row, rows_of, time_of, timestamp

APPS = ("app.yaml",)
CARDS = 25


def events(chosen: Random, start: datetime) -> Iterator[Event]:
    """A payment every three seconds: small ones, common ones and large ones."""
    time = start
    while True:
        time += timedelta(seconds=3)
        cents = chosen.choice((50, 99, 1_250, 4_999, 20_000, 75_000, 120_000))
        yield "payments", {"card": f"card-{chosen.randrange(CARDS)}", "cents": cents, "ts": timestamp(time)}


def rounds(events: list[Event]) -> list[list[Event]]:
    """All at once."""
    return [events]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """Each payment of 500.00 or more whose card paid 1.00 or less just before, a minute ago at most."""
    last: dict[str, Row] = {}
    alerts = []
    for payment in rows_of("payments", [event for one in rounds for event in one]):
        before = last.get(payment["card"])
        last[payment["card"]] = payment
        if before is None or before["cents"] > 100 or payment["cents"] < 50_000:
            continue
        after = (time_of(payment["ts"]) - time_of(before["ts"])) // timedelta(milliseconds=1)
        if after <= 60_000:
            alerts.append({"card": payment["card"], "cents": payment["cents"], "milliseconds_after": after})
    return {"alerts": alerts}
