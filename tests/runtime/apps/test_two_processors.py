"""The same answers from two processors, each an executor of its own."""

import subprocess

import pytest

from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, inputs, last_by_key
from tests.harness.runs.run_systems import ON_SPARK_AND_KAFKA

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, page STRING"}
ROWS: list[Row] = [{"user": f"u{i % 7}", "page": f"/p/{i % 4}"} for i in range(80)]


@pytest.mark.nightly
@ON_SPARK_AND_KAFKA
def test_two_processors_join_and_count_as_one_does(env: AppEnv) -> None:
    made = app(
        {"name": "with", "joinTable": {"from": "events", "table": "tiers", "select": "user, page, tier"}},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        {"name": "by-page", "partitionBy": {"from": "with", "key": "page"}},
        {
            "name": "counted",
            "aggregate": {"from": "by-page", "key": "page", "aggregates": "sum(tier) AS sum"},
        },
        {"name": "told", "sendTo": {"from": "counted", "stream": "sums"}},
        streams=[
            EVENTS,
            {"name": "users", "key": "user", "columns": "user STRING, tier INT"},
            {"name": "out"},
            {"name": "sums", "key": "page"},
        ],
        tables=[{"name": "tiers", "sideInputs": [{"stream": "users", "bootstrap": True}]}],
        processors=2,
    )
    env.write("users", inputs([{"user": f"u{i}", "tier": i} for i in range(7)], "user"), partitions=3)
    env.write("events", inputs(ROWS, "user"), partitions=3)
    subprocess.run(env.command(made, "--until-end", "--batch-rows", "30"), check=True, timeout=300)
    joined = [row | {"tier": int(row["user"][1:])} for row in ROWS]
    assert env.rows("out") == in_order(joined)
    sums = {f"/p/{i}": sum(row["tier"] for row in joined if row["page"] == f"/p/{i}") for i in range(4)}
    assert {key: value["sum"] for key, value in last_by_key(env.records("sums")).items()} == sums
