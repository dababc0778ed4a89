"""Orders, the customers who place them and the products that they are about."""

from collections.abc import Iterator
from datetime import datetime
from itertools import count
from random import Random

from examples.example_data import Event, Row, rows_of

APPS = ("app.yaml",)
COUNTRIES = ("DE", "FR", "JP", "NG", "PE", "US")
CUSTOMERS, STRANGERS = 40, 4
PRODUCTS, WITHDRAWN = 10, 2


def events(chosen: Random, _: datetime) -> Iterator[Event]:
    """All customers and products, then orders; some of strangers, some of products that are not sold."""
    for number in range(CUSTOMERS):
        yield "customers", {"customer": f"c{number}", "country": chosen.choice(COUNTRIES)}
    for number in range(PRODUCTS):
        yield "products", {"product": f"p{number}", "title": f"Product {number}", "cents": 250 * (number + 1)}
    for number in count():
        yield (
            "orders",
            {
                "id": f"o{number}",
                "customer": f"c{chosen.randrange(CUSTOMERS + STRANGERS)}",
                "product": f"p{chosen.randrange(PRODUCTS + WITHDRAWN)}",
                "quantity": chosen.randint(1, 5),
            },
        )


def rounds(events: list[Event]) -> list[list[Event]]:
    """All at once: orders wait until the tables are filled."""
    return [events]


def expected(rounds: list[list[Event]]) -> dict[str, list[Row]]:
    """Each order whose product is sold, with its country where that is known."""
    events = [event for one in rounds for event in one]
    countries = {row["customer"]: row["country"] for row in rows_of("customers", events)}
    products = {row["product"]: row for row in rows_of("products", events)}
    enriched = [
        {
            "id": order["id"],
            "customer": order["customer"],
            "country": countries.get(order["customer"], "unknown"),
            "title": products[order["product"]]["title"],
            "cents": order["quantity"] * products[order["product"]]["cents"],
        }
        for order in rows_of("orders", events)
        if order["product"] in products
    ]
    return {"enriched": enriched}
