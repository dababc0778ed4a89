"""Visitors of campaigns, of whom fewer take each further step."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from examples.example_data import Event, Row, rows_of, timestamp

APPS = ("app.py",)
CAMPAIGNS = ("spring", "shoes", "mail")
USERS = 30
GAP, HOUR = 30 * 60_000, 60 * 60_000


def events(chosen: Random, start: datetime) -> Iterator[Event]:
    """A visit every five minutes: views, then perhaps a cart and a purchase; some in another order."""
    visit = start
    while True:
        visit += timedelta(minutes=5)
        user, campaign = f"u{chosen.randrange(USERS)}", chosen.choice(CAMPAIGNS)
        taken = ["view", "view", "cart", "buy"][: chosen.randint(1, 4)]
        if chosen.randrange(8) == 0:
            taken.reverse()
        for number, step in enumerate(taken):
            time = visit + timedelta(seconds=50 * number + chosen.randrange(10))
            row = {"user": user, "campaign": campaign, "step": step, "ts": int(time.timestamp() * 1000)}
            yield "steps", row


def rounds(events: list[Event]) -> list[list[Event]]:
    """The visits, then a view of each user a day later: it ends all sessions, and the hours of their ends."""
    later = max(row["ts"] for _, row in events) + 24 * HOUR
    view = {"campaign": CAMPAIGNS[0], "step": "view", "ts": later}
    return [[*events, *(("steps", {"user": f"u{number}", **view}) for number in range(USERS))]]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """The sessions of each user and campaign, counted by the hour of their end; the last views' stay open."""
    read = rows_of("steps", rounds[0])
    closing = max(row["ts"] for row in read)
    steps = [row for row in read if row["ts"] < closing]
    counts: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for user, campaign in {(row["user"], row["campaign"]) for row in steps}:
        taken = sorted(
            (row["ts"], row["step"]) for row in steps if (row["user"], row["campaign"]) == (user, campaign)
        )
        for session in _sessions(taken):
            times = {
                step: [time for time, name in session if name == step] for step in ("view", "cart", "buy")
            }
            viewed = bool(times["view"])
            carted = viewed and bool(times["cart"]) and max(times["cart"]) > min(times["view"])
            bought = carted and bool(times["buy"]) and max(times["buy"]) > max(times["cart"])
            hour = (session[-1][0] + GAP - 1) // HOUR
            for place, reached in enumerate((viewed, carted, bought)):
                counts[campaign, hour][place] += reached
    return {"funnel": [_counted(campaign, hour, *count) for (campaign, hour), count in counts.items()]}


def _sessions(taken: list[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    sessions: list[list[tuple[int, str]]] = []
    for time, step in taken:
        if sessions and time - sessions[-1][-1][0] <= GAP:
            sessions[-1].append((time, step))
        else:
            sessions.append([(time, step)])
    return sessions


def _counted(campaign: str, hour: int, viewed: int, carted: int, bought: int) -> Row:
    start = datetime.fromtimestamp(hour * HOUR / 1000, UTC)
    return {
        "campaign": campaign,
        "window_start": timestamp(start),
        "window_end": timestamp(start + timedelta(hours=1)),
        "viewed": viewed,
        "carted": carted,
        "bought": bought,
    }
