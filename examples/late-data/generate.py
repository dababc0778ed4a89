"""Readings of sensors: in order but for seconds, some minutes late, and some that come too late."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from examples.example_data import Event, Row, rows_of, time_of, timestamp

APPS = ("app.yaml",)
SENSORS = 20
MINUTE = timedelta(minutes=1)
DELAY, LATENESS = timedelta(seconds=10), 2 * MINUTE


def events(chosen: Random, start: datetime) -> Iterator[Event]:
    """A reading every second, up to eight seconds out of order: within the delay of the watermark."""
    time = start
    while True:
        time += timedelta(seconds=1)
        read = time - timedelta(seconds=chosen.randrange(8))
        yield _reading(chosen.randrange(SENSORS), chosen.randint(-20, 40), read)


def rounds(events: list[Event]) -> list[list[Event]]:
    """The readings, with one of each sensor that brings the watermark to a time; then stragglers.

    The straggler of a sensor is one to five minutes old: the older ones come too late.
    """
    closing = _closing(events)
    marks = [_reading(number, 0, closing) for number in range(SENSORS)]
    stragglers = [
        _reading(number, 99, closing - DELAY - (1 + number % 5) * MINUTE) for number in range(SENSORS)
    ]
    return [[*events, *marks], stragglers]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """The minutes that the watermark has closed; once more, with the straggler, those that still took one."""
    watermark = max(time_of(row["ts"]) for row in rows_of("readings", rounds[0])) - DELAY
    values: dict[tuple[str, datetime], list[int]] = defaultdict(list)
    for row in rows_of("readings", rounds[0]):
        values[row["sensor"], _minute(row)].append(row["value"])
    minutes = [
        _counted(sensor, start, read)
        for (sensor, start), read in values.items()
        if start + MINUTE <= watermark
    ]
    late = []
    for row in rows_of("readings", rounds[1]):
        start = _minute(row)
        if start + MINUTE + LATENESS > watermark:
            minutes.append(_counted(row["sensor"], start, [*values[row["sensor"], start], row["value"]]))
        else:
            late.append(_late(row, watermark))
    return {"minutes": minutes, "late": late}


def _reading(sensor: int, value: int, time: datetime) -> Event:
    return "readings", {"sensor": f"s{sensor}", "value": value, "ts": timestamp(time)}


def _closing(events: list[Event]) -> datetime:
    """Ten seconds after the end of the last minute: the watermark is then just there."""
    last = max(_minute(row) for _, row in events)
    return last + MINUTE + DELAY


def _minute(row: Row) -> datetime:
    return time_of(row["ts"]).replace(second=0, microsecond=0)


def _counted(sensor: str, start: datetime, values: list[int]) -> Row:
    return {
        "sensor": sensor,
        "window_start": timestamp(start),
        "window_end": timestamp(start + MINUTE),
        "readings": len(values),
        "highest": max(values),
    }


def _late(row: Row, watermark: datetime) -> Row:
    milliseconds = [int(time.timestamp() * 1000) for time in (time_of(row["ts"]), watermark)]
    return {
        "operator": "per-minute",
        "time": milliseconds[0],
        "watermark": milliseconds[1],
        "row": row,
    }
