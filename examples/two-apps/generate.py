"""Readings of meters, and the limit of each meter."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from examples.example_data import Event, Row, rows_of, time_of, timestamp

APPS = ("per-minute.yaml", "alarms.yaml")
METERS, WITHOUT_LIMIT = 20, 3
MINUTE = timedelta(minutes=1)


def events(chosen: Random, start: datetime) -> Iterator[Event]:
    """All limits, then a reading every four seconds. The last meters have no limit."""
    for number in range(METERS - WITHOUT_LIMIT):
        yield "limits", {"meter": f"m{number}", "most": chosen.choice((2_000, 2_500, 3_000))}
    time = start
    while True:
        time += timedelta(seconds=4)
        meter = f"m{chosen.randrange(METERS)}"
        yield "readings", {"meter": meter, "watts": chosen.randrange(100, 3_500), "ts": timestamp(time)}


def rounds(events: list[Event]) -> list[list[Event]]:
    """The readings, then one of each meter an hour later: it closes all minutes, in every partition."""
    later = timestamp(max(time_of(row["ts"]) for row in rows_of("readings", events)) + timedelta(hours=1))
    closing = [("readings", {"meter": f"m{number}", "watts": 0, "ts": later}) for number in range(METERS)]
    return [[*events, *closing]]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """The most that each meter used in each minute, and the minutes in which that is above its limit."""
    read = rows_of("readings", rounds[0])
    closing = max(row["ts"] for row in read)
    most: dict[tuple[str, datetime], int] = {}
    for row in read:
        if row["ts"] == closing:  # its minute stays open
            continue
        minute = row["meter"], time_of(row["ts"]).replace(second=0, microsecond=0)
        most[minute] = max(most.get(minute, 0), row["watts"])
    limits = {row["meter"]: row["most"] for row in rows_of("limits", rounds[0])}
    minutes = [
        {
            "meter": meter,
            "watts": watts,
            "window_start": timestamp(start),
            "window_end": timestamp(start + MINUTE),
        }
        for (meter, start), watts in most.items()
    ]
    alarms = [
        {key: row[key] for key in ("meter", "watts", "window_end")} | {"most": limits[row["meter"]]}
        for row in minutes
        if row["watts"] > limits.get(row["meter"], row["watts"])
    ]
    return {"minutes": minutes, "alarms": alarms}
