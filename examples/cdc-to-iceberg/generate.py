"""Changes of products as Debezium writes them: a snapshot, then rows that come, change and go."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from random import Random

from examples.example_data import Event, Row, rows_of, timestamp

APPS = ("app.yaml",)
SNAPSHOT = 30
"""So many products are in the table when the connector begins."""
DECIMALS = 2
WORDS = ("boots", "coat", "gloves", "hat", "scarf", "socks")


def events(chosen: Random, start: datetime) -> Iterator[Event]:
    """A record for each product of the snapshot; then a change every second."""
    rows: dict[int, Row] = {}
    for number in count(1):
        time = start + timedelta(seconds=number)
        if number <= SNAPSHOT or chosen.randrange(5) == 0 or not rows:
            rows[number] = _product(chosen, number, time)
            yield _change("r" if number <= SNAPSHOT else "c", None, rows[number], time)
            continue
        product = chosen.choice(list(rows))
        if chosen.randrange(8) == 0:
            del rows[product]
            yield _change("d", {"id": product}, None, time)
        else:
            rows[product] = {**rows[product], "price": _price(chosen), "updated_at": timestamp(time)}
            yield _change("u", None, rows[product], time)


def rounds(events: list[Event]) -> list[list[Event]]:
    """In two halves: the second run finds the table that the first one has made."""
    half = len(events) // 2
    return [events[:half], events[half:]]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """The rows of the database's table after the last change."""
    table: dict[int, Row] = {}
    for change in (row for one in rounds for row in rows_of("changes", one)):
        if change["op"] == "d":
            del table[change["before"]["id"]]
        else:
            row = change["after"]
            table[row["id"]] = {**row, "price": _decimal(row["price"])}
    return {"products": list(table.values())}


def _product(chosen: Random, number: int, time: datetime) -> Row:
    name = f"{chosen.choice(WORDS)} {number}"
    return {"id": number, "name": name, "price": _price(chosen), "updated_at": timestamp(time)}


def _change(op: str, before: Row | None, after: Row | None, time: datetime) -> Event:
    """The value of a record of Debezium's connector for PostgreSQL, without its schema."""
    milliseconds = int(time.timestamp() * 1000)
    source = {
        "connector": "postgresql",
        "name": "shop",
        "ts_ms": milliseconds,
        "snapshot": "true" if op == "r" else "false",
        "db": "shop",
        "schema": "public",
        "table": "products",
    }
    return "changes", {"before": before, "after": after, "source": source, "op": op, "ts_ms": milliseconds}


def _price(chosen: Random) -> str:
    """A price as Debezium writes a `numeric(10, 2)`: the bytes of its digits, in base64."""
    cents = chosen.randint(100, 99_999)
    return b64encode(cents.to_bytes(cents.bit_length() // 8 + 1, "big", signed=True)).decode()


def _decimal(price: str) -> str:
    digits = int.from_bytes(b64decode(price), "big", signed=True)
    return str(Decimal(digits).scaleb(-DECIMALS))
