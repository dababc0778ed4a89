"""Operators on single rows, held to what Spark gives for the same rows as a batch."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs
from tests.harness.runs.run_systems import ON_SPARK

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, page STRING, n INT, tags ARRAY<STRING>"}
ROWS: list[Row] = [
    {
        "user": f"u{i % 7}",
        "page": f"/{'health' if i % 5 == 0 else 'p'}/{i % 3}",
        "n": i,
        "tags": ["a", "b", "c"][: i % 4],
    }
    for i in range(60)
]


def golden(spark: SparkSession, sql: str) -> list[Row]:
    """What Spark says to the same rows."""
    spark.createDataFrame([tuple(r.values()) for r in ROWS], EVENTS["columns"]).createOrReplaceTempView(
        "events"
    )
    return in_order([row.asDict(recursive=True) for row in spark.sql(sql).collect()])


def out(env: AppEnv, *operators: dict[str, Any], rows: int | None = None) -> list[Row]:
    env.write("events", inputs(ROWS, "user"))
    last = operators[-1]["name"]
    sent = {"name": "sent", "sendTo": {"from": last, "stream": "out"}}
    env.run(app(*operators, sent, streams=[EVENTS, {"name": "out"}]), rows=rows)
    return env.rows("out")


@pytest.mark.smoke
@ON_SPARK
@pytest.mark.parametrize("rows", [None, 17])
def test_a_filter_and_a_map_give_what_spark_gives(env: AppEnv, spark: SparkSession, rows: int | None) -> None:
    found = out(
        env,
        {"name": "real", "filter": {"from": "events", "where": "page NOT LIKE '/health%' AND n > 3"}},
        {"name": "more", "map": {"from": "real", "select": "user, upper(initcap(page)) AS page, n * 2 AS n"}},
        rows=rows,
    )
    assert found == golden(
        spark,
        "SELECT user, upper(initcap(page)) AS page, n * 2 AS n FROM events "
        "WHERE page NOT LIKE '/health%' AND n > 3",
    )


@ON_SPARK
def test_exploded_rows_are_those_of_spark(env: AppEnv, spark: SparkSession) -> None:
    found = out(
        env, {"name": "each", "flatMap": {"from": "events", "select": "user, n, explode(tags) AS tag"}}
    )
    assert found == golden(spark, "SELECT user, n, explode(tags) AS tag FROM events")


def test_a_fan_out_and_its_merge_give_every_row_twice(env: AppEnv, spark: SparkSession) -> None:
    found = out(
        env,
        {"name": "even", "filter": {"from": "events", "where": "n % 2 = 0"}},
        {"name": "all", "map": {"from": "events", "select": "*"}},
        {"name": "both", "merge": {"from": ["even", "all"]}},
        {"name": "short", "map": {"from": "both", "select": "user, n"}},
    )
    assert found == golden(
        spark, "SELECT user, n FROM events UNION ALL SELECT user, n FROM events WHERE n % 2 = 0"
    )


def test_three_repartitions_in_a_row_lose_and_double_nothing(env: AppEnv, spark: SparkSession) -> None:
    found = out(
        env,
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page"}},
        {"name": "by-n", "partitionBy": {"from": "by-page", "key": "n % 5", "partitions": 5}},
        {"name": "by-user", "partitionBy": {"from": "by-n", "key": "user"}},
        {"name": "short", "map": {"from": "by-user", "select": "user, page, n"}},
        rows=25,
    )
    assert found == golden(spark, "SELECT user, page, n FROM events")


def test_lines_of_csv_are_read_and_written_with_the_signs_of_their_streams(env: AppEnv) -> None:
    readings = {"name": "readings", "key": "sensor", "columns": "sensor STRING, value DOUBLE, note STRING"}
    lines = [b's1;1.5;"a;b"', b"s1;2;-", b"s1;x;y"]
    env.write("readings", [Input("s1", line) for line in lines])
    env.run(
        app(
            {"name": "doubled", "map": {"from": "readings", "select": "sensor, value * 2 AS value, note"}},
            {"name": "sent", "sendTo": {"from": "doubled", "stream": "out"}},
            streams=[
                readings | {"format": "csv", "csv": {"delimiter": ";", "nullText": "-"}},
                {"name": "out", "format": "csv", "key": "sensor"},
            ],
            onBadRecord={"action": "skip"},
        )
    )
    assert [record.value for record in env.records("out")] == [b"s1,3,a;b", b"s1,4,"]


def test_times_are_numbers_in_the_streams_that_say_so_and_times_in_between(env: AppEnv) -> None:
    seen = {
        "name": "seen",
        "key": "user",
        "columns": "user STRING, at TIMESTAMP",
        "timestamps": "milliseconds",
    }
    noon = "TIMESTAMP '2026-01-31 12:00:00'"
    env.write("seen", inputs([{"user": "ann", "at": 1_769_860_800_123}], "user"))
    env.run(
        app(
            {"name": "bounded", "map": {"from": "seen", "select": f"user, at, least(at, {noon}) AS bounded"}},
            {"name": "numbers", "sendTo": {"from": "bounded", "stream": "out"}},
            {"name": "times", "sendTo": {"from": "bounded", "stream": "texts"}},
            streams=[seen, {"name": "out", "timestamps": "seconds"}, {"name": "texts"}],
        )
    )
    assert env.rows("out") == [{"user": "ann", "at": 1_769_860_800, "bounded": 1_769_860_800}]
    text = "2026-01-31T12:00:00.123000Z"
    assert env.rows("texts") == [{"user": "ann", "at": text, "bounded": "2026-01-31T12:00:00.000000Z"}]
