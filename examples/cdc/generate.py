"""Changes of customers, inserted, updated and deleted, and the orders that they place."""

from collections.abc import Iterator
from datetime import datetime
from itertools import count
from random import Random

from examples.example_data import Event, Row, rows_of

APPS = ("app.yaml",)
CUSTOMERS = 25
COUNTRIES = ("DE", "FR", "JP", "NG", "PE", "US")


def events(chosen: Random, _: datetime) -> Iterator[Event]:
    """A change, then two orders, and so on."""
    living: set[str] = set()
    for number in count():
        customer = f"c{chosen.randrange(CUSTOMERS)}"
        if number % 3:
            yield (
                "orders",
                {"number": f"o{number}", "customer": customer, "cents": chosen.randint(100, 9_999)},
            )
        elif customer in living and chosen.randrange(4) == 0:
            living.remove(customer)
            yield "changes", {"before": {"id": customer}, "after": None, "op": "d"}
        else:
            after = {"id": customer, "name": f"Name {number}", "country": chosen.choice(COUNTRIES)}
            yield "changes", {"before": None, "after": after, "op": "u" if customer in living else "c"}
            living.add(customer)


def rounds(events: list[Event]) -> list[list[Event]]:
    """In two halves: orders wait for the changes of their half, and do not see those of the next one."""
    half = len(events) // 2
    return [events[:half], events[half:]]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """Each order with the customer's row as it is after all changes of the half."""
    table: dict[str, Row] = {}
    located = []
    for one in rounds:
        for change in rows_of("changes", one):
            row = change["after"]
            if row is None:
                del table[change["before"]["id"]]
            else:
                table[row["id"]] = {"name": row["name"], "country": row["country"]}
        located += [
            order | table.get(order["customer"], {"name": None, "country": None})
            for order in rows_of("orders", one)
        ]
    return {"shipped-to": located}
