"""Windows and joins over rows that come in disorder, beside Spark's own SQL over the same rows at rest."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from tests.harness.runs.app_runs import AppEnv, Row, app, inputs
from tests.harness.runs.timed_streams import at, sent

COLUMNS = "user STRING, page STRING, n INT, ts TIMESTAMP"
WINDOWS = {
    "tumbling": ({"tumbling": {"size": "10s"}}, "window(ts, '10 seconds')"),
    "hopping": ({"hopping": {"size": "10s", "advance": "4s"}}, "window(ts, '10 seconds', '4 seconds')"),
    "session": ({"session": {"gap": "4s"}}, "session_window(ts, '4 seconds')"),
}
NEAR = "l.user = r.user AND abs(unix_millis(l.ts) - unix_millis(r.ts)) <= 3000"
JOINS = ("inner", "left", "full")


def disordered(chance: random.Random, count: int, disorder: int) -> list[Row]:
    """Rows of some users, each up to so many seconds behind the newest before it."""
    rows = []
    for n in range(count):
        second = max(0, n // 2 - chance.randint(0, disorder) * (chance.random() < 0.4))
        rows.append(at(second, f"u{chance.randint(0, 6)}", n=n))
    return rows


def windowed(name: str) -> list[Row]:
    body = {
        "from": "events",
        "aggregates": "count(*) AS rows, sum(n) AS total, max(n) AS most",
        "window": WINDOWS[name][0],
    }
    if name == "hopping":  # else a row could be late for some of its windows, and in time for others
        body["allowedLateness"] = "1m"
    return [{"name": name, "aggregate": body}, sent(name, f"out-{name}")]


def joining(kind: str) -> list[Row]:
    body = {"from": ["events", "others"], "within": "3s", "type": kind, "select": "left.n AS a, right.n AS b"}
    return [{"name": f"j-{kind}", "join": body}, sent(f"j-{kind}", f"out-{kind}")]


def in_time(rows: Sequence[Row], late: Sequence[Row], operator: str) -> list[Row]:
    """The rows that an operator did not leave out; each has a number of its own."""
    left_out = {letter["row"]["n"] for letter in late if letter["operator"] == operator}
    return [row for row in rows if row["n"] not in left_out]


def at_rest(spark: SparkSession, rows: Sequence[Row]) -> DataFrame:
    given = [(row["user"], row["page"], row["n"], row["ts"]) for row in rows]
    lines = spark.createDataFrame(given, "user STRING, page STRING, n INT, ts STRING")
    return lines.withColumn("ts", expr("CAST(ts AS TIMESTAMP)"))


def windows_at_rest(rows: DataFrame, window: str) -> Counter[tuple[object, ...]]:
    grouped = rows.groupBy("user", expr(window).alias("w"))
    totals = grouped.agg(expr("count(*)"), expr("sum(n)"), expr("max(n)"))
    found = totals.select("user", expr("string(w.start)"), expr("string(w.end)"), *totals.columns[2:])
    return Counter(tuple(row) for row in found.collect())


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))])
def test_what_goes_out_is_what_sql_finds_in_the_rows_that_were_not_late(
    env: AppEnv, spark: SparkSession, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    delay, disorder = chance.randint(0, 6), chance.randint(1, 8)
    stream = {"key": "user", "columns": COLUMNS, "eventTime": {"column": "ts", "delay": f"{delay}s"}}
    made = app(
        *(part for name in WINDOWS for part in windowed(name)),
        *(part for kind in JOINS for part in joining(kind)),
        streams=[
            {"name": "events", **stream},
            {"name": "others", **stream},
            {"name": "late"},
            *({"name": f"out-{name}"} for name in (*WINDOWS, *JOINS)),
        ],
        mode="batch",
        lateRows={"action": "stream", "stream": "late"},
    )
    events = disordered(chance, 120, disorder)
    others = [row | {"n": row["n"] + 1_000} for row in disordered(chance, 90, disorder)]
    env.write("events", inputs(events, "user"), partitions=2)
    env.write("others", inputs(others, "user"), partitions=2)
    env.run_to_end(made, rows=25)
    late = [record.value for record in env.records("late")]
    if disorder <= delay:
        assert late == []
    for name, (_, window) in WINDOWS.items():
        rows = at_rest(spark, in_time(events, late, name))
        last = {}
        for row in sorted(env.rows(f"out-{name}"), key=lambda row: int(row["rows"])):
            place = (row["user"], plain(row["window_start"]), plain(row["window_end"]))
            assert place not in last or name == "hopping"  # late rows send a window out again
            last[place] = (row["rows"], row["total"], row["most"])
        found = Counter((*place, *totals) for place, totals in last.items())
        assert found == windows_at_rest(rows, window), name
    for kind in JOINS:
        left = at_rest(spark, in_time(events, late, f"j-{kind}")).alias("l")
        right = at_rest(spark, in_time(others, late, f"j-{kind}")).alias("r")
        joined = left.join(right, expr(NEAR), kind).select("l.n", "r.n").collect()
        pairs = Counter((row["a"], row["b"]) for row in env.rows(f"out-{kind}"))
        assert pairs == Counter(tuple(row) for row in joined), kind


def plain(moment: str) -> str:
    """A timestamp as SQL writes it in UTC."""
    return moment.removesuffix("Z").partition(".")[0].replace("T", " ")
