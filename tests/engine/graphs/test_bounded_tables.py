"""Tables whose rows come as versions: each is seen as a whole, from the batch after its end came."""

from streamapp.spec.app import StreamApp
from tests.engine.graphs.harness import House, Row, Told, app, in_order, told

VIEWS = {"name": "views", "key": "page", "columns": "page STRING, n INT"}
PRICES = {"name": "prices", "key": "page", "columns": "page STRING, price INT"}
WITH = {
    "name": "with",
    "joinTable": {"from": "views", "table": "prices", "type": "left", "select": "n, price"},
}
SENT = {"name": "sent", "sendTo": {"from": "with", "stream": "out"}}
ENDS = [Told(None, None)]


def made(store: str) -> StreamApp:
    side = {"stream": "prices", "bootstrap": True, "versions": "nullKey"}
    tables = [{"name": "prices", "store": store, "sideInputs": [side]}]
    return app(WITH, SENT, streams=[VIEWS, PRICES, {"name": "out"}], tables=tables)


def price(page: str, amount: int) -> Row:
    return {"page": page, "price": amount}


def test_rows_wait_for_the_first_version_and_meet_the_last_that_is_whole(here: House) -> None:
    running = made("rocksdb")
    here.write("prices", told([price("a", 1), price("b", 1)], "page"), partitions=1)
    here.write("prices", ENDS, partitions=1)
    here.write("prices", told([price("a", 2)], "page"), partitions=1)
    here.write("views", told([{"page": "a", "n": 1}, {"page": "b", "n": 2}], "page"), partitions=1)
    here.run(running)
    assert here.rows("out") == in_order([{"n": 1, "price": 1}, {"n": 2, "price": 1}])
    here.write("prices", ENDS, partitions=1)
    here.run(running)
    here.write("views", told([{"page": "a", "n": 3}, {"page": "b", "n": 4}], "page"), partitions=1)
    here.run(running)
    assert {"n": 3, "price": 2} in here.rows("out")
    (row,) = (row for row in here.rows("out") if row["n"] == 4)
    assert row.get("price") is None
