"""Tables whose rows come as versions: each is seen as a whole, from the batch after its end came."""

import pytest

from streamapp.spec.resource.app import StreamApp
from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs
from tests.harness.runs.growing_loop import Run

VIEWS = {"name": "views", "key": "page", "columns": "page STRING, n INT"}
PRICES = {"name": "prices", "key": "page", "columns": "page STRING, price INT"}
WITH = {
    "name": "with",
    "joinTable": {"from": "views", "table": "prices", "type": "left", "select": "n, price"},
}
SENT = {"name": "sent", "sendTo": {"from": "with", "stream": "out"}}
ENDS = [Input(None, None)]


def made(store: str, *, broadcast: bool, bootstrap: bool = True) -> StreamApp:
    side = {"stream": "prices", "bootstrap": bootstrap, "versions": "nullKey"}
    tables = [{"name": "prices", "store": store, "broadcast": broadcast, "sideInputs": [side]}]
    return app(WITH, SENT, streams=[VIEWS, PRICES, {"name": "out"}], tables=tables)


def price(page: str, amount: int) -> Row:
    return {"page": page, "price": amount}


KINDS = [("rocksdb", False), ("rocksdb", True), ("lmdb", True), ("memory", True)]


@pytest.mark.parametrize(("store", "broadcast"), KINDS)
def test_rows_wait_for_the_first_version_and_meet_the_last_that_is_whole(
    env: AppEnv, store: str, broadcast: bool
) -> None:
    running = made(store, broadcast=broadcast)
    env.write("prices", inputs([price("a", 1), price("b", 1)], "page"), partitions=1)
    env.write("prices", ENDS, partitions=1)
    env.write("prices", inputs([price("a", 2)], "page"), partitions=1)
    env.write("views", inputs([{"page": "a", "n": 1}, {"page": "b", "n": 2}], "page"), partitions=1)
    env.run(running)
    assert env.rows("out") == in_order([{"n": 1, "price": 1}, {"n": 2, "price": 1}])
    env.write("prices", ENDS, partitions=1)
    env.run(running)
    env.write("views", inputs([{"page": "a", "n": 3}, {"page": "b", "n": 4}], "page"), partitions=1)
    env.run(running)
    assert {"n": 3, "price": 2} in env.rows("out")
    (row,) = (row for row in env.rows("out") if row["n"] == 4)
    assert row.get("price") is None


@pytest.mark.parametrize(("store", "broadcast"), KINDS)
def test_a_partition_that_is_ahead_of_the_version_keeps_no_rows_waiting(
    env: AppEnv, store: str, broadcast: bool
) -> None:
    """The next version has ended in one partition, in the other it may never end."""
    running = made(store, broadcast=broadcast)
    views = [{"page": page, "n": n} for n, page in enumerate("abcdefgh")]
    env.write("views", inputs(views, "page"), partitions=2)
    env.write("prices", inputs([price(page, 1) for page in "abcdefgh"], "page"), partitions=2)
    env.ends("prices", 0, 1)
    env.ends("prices", 0)
    env.write("prices", inputs([price(page, 3) for page in "abcdefgh"], "page"), partitions=2)
    env.run(running)
    seen = {row["n"]: row["price"] for row in env.rows("out")}
    if broadcast:
        assert seen == dict.fromkeys(range(8), 1)
    else:  # a task of one partition sees its own versions
        assert set(seen.values()) <= {1, None}
        assert len(seen) == 8


@pytest.mark.parametrize("store", ["rocksdb", "lmdb"])
def test_without_bootstrap_rows_of_a_broadcast_table_do_not_wait_for_a_first_version(
    env: AppEnv, store: str
) -> None:
    env.write("prices", inputs([price("a", 1)], "page"), partitions=1)
    env.write("views", inputs([{"page": "a", "n": 1}], "page"))
    env.run(made(store, broadcast=True, bootstrap=False))
    (row,) = env.rows("out")
    assert row.get("price") is None


@pytest.mark.parametrize("store", ["rocksdb", "lmdb"])
def test_a_broadcast_table_outlives_the_driver_with_the_version_that_was_whole(
    env: AppEnv, store: str
) -> None:
    running = made(store, broadcast=True)
    env.write("prices", [*inputs([price("a", 1)], "page"), *ENDS], partitions=1)
    env.write("prices", inputs([price("a", 2)], "page"), partitions=1)
    env.write("views", [], partitions=2)
    env.run(running)
    env.write("views", inputs([{"page": "a", "n": 1}], "page"))
    env.run(running)
    assert env.rows("out") == [{"n": 1, "price": 1}]


def test_a_run_knows_for_whose_first_version_rows_wait(env: AppEnv) -> None:
    env.write("prices", inputs([price("a", 1)], "page"), partitions=1)
    env.write("views", inputs([{"page": "a", "n": 1}], "page"), partitions=1)
    run = Run.start(env, made("rocksdb", broadcast=False))
    run.steps(5)
    assert run.loop.backlog.side_inputs.unended == ("prices",)
    assert env.rows("out") == []
