"""The example of a table that changes slowly and of one that all tasks see whole."""

from pathlib import Path

from streamapp.spec.parser import parse
from tests.harness.runs.app_runs import AppEnv, Row, in_order, inputs

EXAMPLE = Path(__file__).parents[4] / "examples" / "orders" / "app.yaml"
CUSTOMERS: list[Row] = [{"customer": f"c{n}", "country": "DE" if n % 2 else "FR"} for n in range(6)]
RATES: list[Row] = [{"currency": "EUR", "euro": 1.0}, {"currency": "USD", "euro": 0.5}]


def order(number: int, currency: str) -> Row:
    return {"customer": f"c{number % 7}", "currency": currency, "amount": float(number)}


def priced(orders: list[Row], countries: dict[str, str], rates: dict[str, float]) -> list[Row]:
    return in_order(
        [
            {
                "customer": one["customer"],
                "country": countries[one["customer"]],
                "euros": one["amount"] * rates[one["currency"]],
            }
            for one in orders
            if one["customer"] in countries and one["currency"] in rates
        ]
    )


def found(env: AppEnv) -> list[Row]:
    return in_order([row | {"euros": float(row["euros"])} for row in env.rows("priced")])


def test_orders_are_priced_by_what_both_tables_held_and_later_ones_by_what_they_hold_then(
    env: AppEnv,
) -> None:
    (app,) = parse(EXAMPLE.read_text("utf-8")).apps
    first = [order(n, ["EUR", "USD", "XXX"][n % 3]) for n in range(30)]
    env.write("customers", inputs(CUSTOMERS, "customer"), partitions=4)
    env.write("rates", inputs(RATES, "currency"), partitions=1)
    env.write("orders", inputs(first, "customer"), partitions=4)
    env.run(app)
    countries = {row["customer"]: row["country"] for row in CUSTOMERS}
    assert found(env) == priced(first, countries, {"EUR": 1.0, "USD": 0.5})
    later = [order(n, "USD") for n in range(30, 40)]
    env.write("customers", inputs([{"customer": "c1", "country": "PE"}], "customer"), partitions=4)
    env.write("rates", inputs([{"currency": "USD", "euro": 0.25}], "currency"), partitions=1)
    env.write("orders", inputs(later, "customer"), partitions=4)
    env.run(app)
    fresh = priced(later, countries | {"c1": "PE"}, {"EUR": 1.0, "USD": 0.25})
    before = priced(first, countries, {"EUR": 1.0, "USD": 0.5})
    assert found(env) == in_order(before + fresh)
