"""Orders from several countries: in order but for minutes, some hours late, and some that come too late."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from examples.example_data import Event, Row, rows_of, time_of, timestamp

APPS = ("app.yaml",)
CUSTOMERS = 20
COUNTRIES = ("DE", "FR", "JP", "NG", "PE", "US")
HOUR = timedelta(hours=1)
DELAY, LATENESS = timedelta(minutes=5), 2 * HOUR


def events(chosen: Random, start: datetime) -> Iterator[Event]:
    """An order every two minutes, up to four minutes out of order: within the delay of the watermark."""
    time, number = start, 0
    while True:
        time, number = time + timedelta(minutes=2), number + 1
        ordered = time - timedelta(seconds=chosen.randrange(240))
        yield _order(f"o{number}", chosen.randrange(CUSTOMERS), chosen.randint(100, 99_999), ordered)


def rounds(events: list[Event]) -> list[list[Event]]:
    """The orders, with one of each customer that brings the watermark to the end of an hour; then late ones.

    The late order of a customer is one to five hours old: the older ones come too late.
    """
    closing = max(_hour(row) for _, row in events) + HOUR + DELAY
    marks = [_order(f"mark{number}", number, 100, closing) for number in range(CUSTOMERS)]
    late = [
        _order(f"late{number}", number, 1_000 + number, closing - DELAY - (1 + number % 5) * HOUR)
        for number in range(CUSTOMERS)
    ]
    return [[*events, *marks], late]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """The hours that the watermark has closed, with the late orders that they still took; the other ones."""
    watermark = max(time_of(row["ts"]) for row in rows_of("orders", rounds[0])) - DELAY
    amounts: dict[tuple[str, datetime], list[Decimal]] = defaultdict(list)
    for row in rows_of("orders", rounds[0]):
        if _hour(row) + HOUR <= watermark:
            amounts[row["country"], _hour(row)].append(Decimal(row["amount"]))
    late = []
    for row in rows_of("orders", rounds[1]):
        if _hour(row) + HOUR + LATENESS > watermark:
            amounts[row["country"], _hour(row)].append(Decimal(row["amount"]))
        else:
            late.append(_late(row, watermark))
    revenue = [
        {"country": country, "hour": timestamp(hour), "orders": len(each), "revenue": str(sum(each))}
        for (country, hour), each in amounts.items()
    ]
    return {"revenue": revenue, "late": late}


def _order(number: str, customer: int, cents: int, time: datetime) -> Event:
    amount = str(Decimal(cents).scaleb(-2))
    country = COUNTRIES[customer % len(COUNTRIES)]
    row = {"number": number, "customer": f"c{customer}", "country": country, "amount": amount}
    return "orders", {**row, "ts": timestamp(time)}


def _hour(row: Row) -> datetime:
    return time_of(row["ts"]).replace(minute=0, second=0, microsecond=0)


def _late(row: Row, watermark: datetime) -> Row:
    """The row in a stream of JSON, which has a decimal as a number."""
    milliseconds = [int(time.timestamp() * 1000) for time in (time_of(row["ts"]), watermark)]
    late_row = {**row, "amount": float(row["amount"])}
    return {"operator": "per-hour", "time": milliseconds[0], "watermark": milliseconds[1], "row": late_row}
