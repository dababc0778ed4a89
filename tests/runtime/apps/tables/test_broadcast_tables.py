"""Tables that are whole everywhere: each task joins with all of them, whatever its own keys are."""

from collections import Counter
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.reporting.metric_values import RunMetrics
from streamapp_runtime.stores.directories.state_directory import EVERY_TASK, state_directory, stored_tasks
from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, inputs

VIEWS = {"name": "views", "key": "user", "columns": "user STRING, page STRING, n INT"}
RATES = {"name": "rates", "key": "page", "columns": "page STRING, rate INT"}
OUT = {"name": "out"}

VIEW_ROWS: list[Row] = [{"user": f"u{i % 9}", "page": f"p{i % 4}", "n": i} for i in range(40)]
RATE_ROWS: list[Row] = [{"page": f"p{i}", "rate": 10 * i} for i in range(3)]
WITH = {
    "name": "with",
    "joinTable": {"from": "views", "table": "prices", "key": "page", "select": "user, n, rate"},
}
SENT = {"name": "sent", "sendTo": {"from": "with", "stream": "out"}}
JOINED = in_order(
    [
        {"user": row["user"], "n": row["n"], "rate": 10 * int(row["page"][1:])}
        for row in VIEW_ROWS
        if row["page"] != "p3"
    ]
)


def made(store: str, *, bootstrap: bool = True, visibility: str = "nextBatch") -> StreamApp:
    side = {"stream": "rates", "bootstrap": bootstrap}
    prices = {
        "name": "prices",
        "store": store,
        "broadcast": True,
        "sideInputs": [side],
        "visibility": visibility,
    }
    return app(WITH, SENT, streams=[VIEWS, RATES, OUT], tables=[prices])


@pytest.mark.parametrize("store", ["rocksdb", "lmdb", "memory"])
def test_every_task_joins_with_the_whole_table_although_partitions_do_not_agree(
    env: AppEnv, store: str
) -> None:
    env.write("rates", inputs(RATE_ROWS, "page"), partitions=3)
    env.write("views", inputs(VIEW_ROWS, "user"), partitions=2)
    env.run(made(store), rows=15)
    assert env.rows("out") == JOINED


def test_one_store_is_kept_for_all_tasks_and_one_version_of_it(env: AppEnv) -> None:
    env.write("rates", inputs(RATE_ROWS, "page"), partitions=3)
    env.write("views", inputs(VIEW_ROWS, "user"), partitions=2)
    env.run(made("rocksdb"))
    root = env.data / "state"
    assert stored_tasks(root, "test.app") == {EVERY_TASK}
    assert len(versions(env)) == 1


def test_rows_see_what_changed_before_and_old_versions_go(env: AppEnv) -> None:
    env.write("rates", inputs(RATE_ROWS, "page"), partitions=1)
    env.write("views", inputs(VIEW_ROWS[:3], "user"))
    env.run(made("lmdb"))
    before = versions(env)
    env.write("rates", inputs([{"page": "p1", "rate": 77}], "page"), partitions=1)
    env.write("views", inputs([{"user": "u1", "page": "p1", "n": 100}], "user"))
    env.run(made("lmdb"))
    assert {"user": "u1", "n": 100, "rate": 77} in env.rows("out")
    assert len(versions(env)) == 1
    assert versions(env) != before


def test_without_bootstrap_the_first_version_may_be_empty(env: AppEnv) -> None:
    env.write("rates", [], partitions=1)
    env.write("views", inputs(VIEW_ROWS, "user"))
    env.run(made("rocksdb", bootstrap=False))
    assert env.rows("out") == []


def test_a_stream_that_starts_at_its_latest_record_fills_the_table_with_what_comes_later(
    env: AppEnv,
) -> None:
    side = {"stream": "rates", "bootstrap": False}
    prices = {"name": "prices", "broadcast": True, "sideInputs": [side]}
    late = app(WITH, SENT, streams=[VIEWS, RATES | {"start": "latest"}, OUT], tables=[prices])
    env.write("rates", inputs(RATE_ROWS[:2], "page"), partitions=1)
    env.write("views", [])
    env.run(late)
    env.write("rates", inputs(RATE_ROWS[2:], "page"), partitions=1)
    env.run(late)
    env.write("views", inputs(VIEW_ROWS, "user"))
    env.run(late)
    assert env.rows("out") == [row for row in JOINED if row["rate"] == 20]


def test_a_table_of_a_stream_that_is_also_an_input_is_filled_and_its_records_are_delivered(
    env: AppEnv,
) -> None:
    copied = {"name": "copied", "sendTo": {"from": "rates", "stream": "copy"}}
    prices = {
        "name": "prices",
        "broadcast": True,
        "sideInputs": [{"stream": "rates", "bootstrap": True}],
    }
    both = app(WITH, SENT, copied, streams=[VIEWS, RATES, OUT, {"name": "copy"}], tables=[prices])
    env.write("rates", inputs(RATE_ROWS, "page"))
    env.write("views", inputs(VIEW_ROWS, "user"))
    env.run(both)
    assert env.rows("out") == JOINED
    assert Counter(map(str, env.rows("copy"))) == Counter(map(str, RATE_ROWS))


@pytest.mark.parametrize("store", ["rocksdb", "lmdb"])
def test_rows_see_what_was_there_to_be_read_with_them_where_joins_come_after_it(
    env: AppEnv, store: str
) -> None:
    running = made(store, bootstrap=False, visibility="sameBatch")
    env.write("rates", inputs(RATE_ROWS, "page"), partitions=3)
    env.write("views", inputs(VIEW_ROWS, "user"), partitions=2)
    env.run(running)
    assert env.rows("out") == JOINED


@pytest.mark.parametrize("store", ["rocksdb", "lmdb"])
def test_rows_go_on_while_a_table_that_joins_come_after_changes_all_the_time(env: AppEnv, store: str) -> None:
    """The budget is too small for all of either, so that both are read in several batches."""
    env.write("rates", inputs(RATE_ROWS * 20, "page"), partitions=1)
    env.write("views", inputs(VIEW_ROWS, "user"), partitions=2)
    batches = env.run(made(store, bootstrap=False, visibility="sameBatch"), rows=10)
    given = [set(batch.read) for batch in batches if batch.read]
    assert all(len(streams) == 1 for streams in given)
    rows = [number for number, streams in enumerate(given) if streams == {"views"}]
    assert {"rates"} in given[rows[0] : rows[-1]], "rows waited until there was nothing to fill any more"


def test_what_fills_a_table_is_counted_as_read(env: AppEnv) -> None:
    env.write("rates", inputs(RATE_ROWS, "page"), partitions=1)
    env.write("views", inputs(VIEW_ROWS, "user"))
    values = RunMetrics()
    values.launched(env.launched(made("rocksdb"))[1])
    for batch in env.run(made("rocksdb")):
        values.batch_committed(batch)
    lines = generate_latest(values.registry).decode().splitlines()
    assert f'streamapp_rows_in_total{{stream="rates"}} {len(RATE_ROWS)}.0' in lines
    assert f'streamapp_rows_in_total{{stream="views"}} {len(VIEW_ROWS)}.0' in lines


def versions(env: AppEnv) -> set[Path]:
    folder = state_directory(env.data / "state", "test.app", EVERY_TASK, "prices") / "versions"
    return set(folder.iterdir())
