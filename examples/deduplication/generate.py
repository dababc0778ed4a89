"""Events of producers that try again: soon, and sometimes much later."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from random import Random

from examples.example_data import Event, Row, rows_of, time_of, timestamp

APPS = ("app.yaml",)
KINDS = ("created", "paid", "shipped")
LATELY = 200
"""Of so many last events each may be sent again; with one in five seconds the oldest are 17 minutes old."""


def events(chosen: Random, start: datetime) -> Iterator[Event]:
    """A delivery every five seconds; one in three has been made before."""
    ids: list[tuple[str, str]] = []
    for number in count():
        again = bool(ids) and chosen.randrange(3) == 0
        event = chosen.choice(ids) if again else (f"e{number}", chosen.choice(KINDS))
        ids = [*ids, event][-LATELY:] if not again else ids
        time = start + timedelta(seconds=5 * number)
        yield "deliveries", {"id": event[0], "kind": event[1], "ts": timestamp(time)}


def rounds(events: list[Event]) -> list[list[Event]]:
    """All at once."""
    return [events]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """Each delivery that comes ten minutes after the last one of its id that has passed, or is the first."""
    passed: dict[str, datetime] = {}
    first = []
    for row in rows_of("deliveries", [event for one in rounds for event in one]):
        time = time_of(row["ts"])
        if row["id"] not in passed or time - passed[row["id"]] >= timedelta(minutes=10):
            passed[row["id"]] = time
            first.append(row)
    return {"events": first}
