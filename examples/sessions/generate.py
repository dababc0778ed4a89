"""Clicks of users who come, stay for a while and come again."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from examples.example_data import Event, Row, rows_of, time_of, timestamp

APPS = ("app.yaml",)
USERS = 20
PAGES = ("/", "/search", "/shoes", "/hats", "/cart")
GAP = timedelta(minutes=30)


def events(chosen: Random, start: datetime) -> Iterator[Event]:
    """A click every two minutes, some up to 50 seconds out of order."""
    time = start
    while True:
        time += timedelta(minutes=2)
        clicked = time - timedelta(seconds=chosen.randrange(50))
        user = f"u{min(chosen.randrange(USERS), chosen.randrange(USERS))}"
        yield "clicks", {"user": user, "page": chosen.choice(PAGES), "ts": timestamp(clicked)}


def rounds(events: list[Event]) -> list[list[Event]]:
    """The clicks, then one of each user a day later: it closes all sessions, in every partition."""
    later = timestamp(max(time_of(row["ts"]) for _, row in events) + timedelta(days=1))
    closing = [("clicks", {"user": f"u{number}", "page": "/", "ts": later}) for number in range(USERS)]
    return [[*events, *closing]]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """The sessions of each user, without those of the closing clicks, which stay open."""
    read = rows_of("clicks", rounds[0])
    closing = max(row["ts"] for row in read)
    clicks = [row for row in read if row["ts"] < closing]
    visits = []
    for user in dict.fromkeys(row["user"] for row in clicks):
        times = sorted(time_of(row["ts"]) for row in clicks if row["user"] == user)
        ends = [number for number, (one, other) in enumerate(pairwise(times)) if other - one > GAP]
        for first, last in zip([0, *(end + 1 for end in ends)], [*ends, len(times) - 1], strict=True):
            visits.append(
                {
                    "user": user,
                    "window_start": timestamp(times[first]),
                    "window_end": timestamp(times[last] + GAP),
                    "clicks": last - first + 1,
                }
            )
    return {"visits": visits}
