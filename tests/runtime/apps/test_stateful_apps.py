"""Apps that keep totals, wait for partners, or keep what a class of their own keeps."""

from collections import Counter

import pytest

from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs, last_by_key
from tests.harness.runs.run_systems import ON_SPARK

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, page STRING, n INT"}
ROWS: list[Row] = [{"user": f"u{i % 5}", "page": f"/p/{i % 3}", "n": i} for i in range(50)]
OUT = {"name": "out", "key": "user"}
CODE = "tests.harness.user_code.graph_code"


@pytest.mark.smoke
@ON_SPARK
def test_running_totals_end_at_the_totals_of_all_rows(env: AppEnv) -> None:
    wanted = "count(*) AS rows, sum(n) AS total, min(n) AS least, max(n) AS most, avg(n) AS mean"
    made = app(
        {"name": "totals", "aggregate": {"from": "events", "aggregates": wanted}},
        {"name": "sent", "sendTo": {"from": "totals", "stream": "out"}},
        streams=[EVENTS, OUT],
    )
    env.write("events", inputs(ROWS, "user"))
    env.run(made, rows=7)
    for user, value in last_by_key(env.records("out")).items():
        of_user = [row["n"] for row in ROWS if row["user"] == user]
        assert value == {
            "user": user,
            "rows": len(of_user),
            "total": sum(of_user),
            "least": min(of_user),
            "most": max(of_user),
            "mean": sum(of_user) / len(of_user),
        }


def test_totals_of_totals_after_a_repartition_count_each_row_once(env: AppEnv) -> None:
    made = app(
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page"}},
        {
            "name": "per-page",
            "aggregate": {"from": "by-page", "key": "page", "aggregates": "count(*) AS views"},
        },
        {"name": "sent", "sendTo": {"from": "per-page", "stream": "out"}},
        streams=[EVENTS, {"name": "out", "key": "page"}],
    )
    env.write("events", inputs(ROWS, "user"))
    env.run(made, rows=11)
    expected = Counter(row["page"] for row in ROWS)
    assert {key: value["views"] for key, value in last_by_key(env.records("out")).items()} == expected


def test_totals_go_on_after_a_restart(env: AppEnv) -> None:
    made = app(
        {"name": "totals", "aggregate": {"from": "events", "aggregates": "count(*) AS rows"}},
        {"name": "sent", "sendTo": {"from": "totals", "stream": "out"}},
        streams=[EVENTS, OUT],
    )
    for _ in range(2):
        env.write("events", inputs(ROWS, "user"))
        env.run(made)
    assert {value["rows"] for value in last_by_key(env.records("out")).values()} == {20}


@pytest.mark.parametrize("time", ["arrival", "event"])
def test_a_join_of_two_streams_pairs_rows_of_equal_keys_within_the_time(env: AppEnv, time: str) -> None:
    made = app(
        {
            "name": "pairs",
            "join": {
                "from": ["events", "clicks"],
                "within": "1h" if time == "arrival" else "5s",
                "time": time,
                "select": "left.user AS user, left.n AS n, right.m AS m",
            },
        },
        {"name": "sent", "sendTo": {"from": "pairs", "stream": "out"}},
        streams=[EVENTS, {"name": "clicks", "key": "user", "columns": "user STRING, m INT"}, OUT],
    )
    left = [Input(row["user"], row, timestamp=1000 * row["n"]) for row in ROWS[:20]]
    right = [Input(f"u{i % 5}", {"user": f"u{i % 5}", "m": i}, timestamp=1000 * i) for i in range(20)]
    env.write("events", left)
    env.write("clicks", right)
    env.run(made, rows=9)
    expected = [
        {"user": a.key, "n": a.value["n"], "m": b.value["m"]}
        for a in left
        for b in right
        if a.key == b.key and (time == "arrival" or abs(a.timestamp - b.timestamp) <= 5000)
    ]
    assert env.rows("out") == in_order(expected)


def test_a_python_function_maps_whole_batches(env: AppEnv) -> None:
    made = app(
        {
            "name": "loud",
            "map": {"from": "events", "python": f"{CODE}:shouted", "columns": "user STRING, loud STRING"},
        },
        {"name": "sent", "sendTo": {"from": "loud", "stream": "out"}},
        streams=[EVENTS, OUT],
    )
    env.write("events", inputs(ROWS, "user"))
    env.run(made)
    assert env.rows("out") == in_order([{"user": row["user"], "loud": row["page"].upper()} for row in ROWS])


def test_a_class_keeps_what_it_counts_over_batches_and_restarts(env: AppEnv) -> None:
    made = app(
        {
            "name": "counted",
            "process": {
                "from": "events",
                "python": f"{CODE}:Counting",
                "columns": "user STRING, seen BIGINT",
            },
        },
        {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        streams=[EVENTS, OUT],
    )
    for _ in range(2):
        env.write("events", inputs(ROWS, "user"))
        env.run(made, rows=13)
    assert {value["seen"] for value in last_by_key(env.records("out")).values()} == {20}


def test_a_broadcast_stream_reaches_every_task(env: AppEnv) -> None:
    made = app(
        {"name": "everywhere", "broadcast": {"from": "events"}},
        {"name": "short", "map": {"from": "everywhere", "select": "user, n"}},
        {"name": "sent", "sendTo": {"from": "short", "stream": "out"}},
        streams=[EVENTS, OUT],
    )
    env.write("events", inputs(ROWS, "user"), partitions=3)
    env.run(made, rows=20)
    assert env.rows("out") == in_order([{"user": row["user"], "n": row["n"]} for row in ROWS] * 3)


def test_a_broadcast_stream_keeps_the_order_of_what_a_task_wrote(env: AppEnv) -> None:
    made = app(
        {"name": "everywhere", "broadcast": {"from": "events"}},
        {"name": "sent", "sendTo": {"from": "everywhere", "stream": "out"}},
        streams=[EVENTS, {"name": "out"}],
        config={"job.intermediate.stream.partitions": "4"},
    )
    env.write("events", inputs(ROWS, "user"), partitions=1)
    env.write("out", [], partitions=1)
    env.run(made, rows=20)
    assert [record.value["n"] for record in env.records("out")] == [row["n"] for row in ROWS]
