"""Orders with countries and prices, tested without Spark, a broker or waiting."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

APP = Path(__file__).with_name("app.yaml")
ORDER = {"id": "o1", "customer": "ann", "product": "hat", "quantity": 2}
HAT = {"product": "hat", "title": "Straw hat", "cents": 1900}


def test_an_order_gets_the_country_of_its_customer_and_its_price(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("customers", {"customer": "ann", "country": "NO"})
    app.send("products", HAT)
    app.send("orders", ORDER)
    assert app.rows("enriched") == [
        {"id": "o1", "customer": "ann", "country": "NO", "title": "Straw hat", "cents": 3800}
    ]


def test_a_stranger_has_no_country_and_an_unknown_product_no_row(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("products", HAT)
    app.send("orders", [ORDER, {**ORDER, "id": "o2", "product": "sock"}])
    assert [(row["id"], row["country"]) for row in app.rows("enriched")] == [("o1", "unknown")]


def test_a_new_price_holds_for_later_orders(streamapp: Callable[..., TestApp]) -> None:
    app = streamapp(APP)
    app.send("products", HAT)
    app.send("orders", ORDER)
    app.send("products", {**HAT, "cents": 1500})
    app.send("orders", {**ORDER, "id": "o2"})
    assert [row["cents"] for row in app.rows("enriched")] == [3800, 3000]
    assert app.spark_reasons == ()
