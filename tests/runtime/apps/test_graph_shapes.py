"""Graphs of every shape: whatever the planner takes runs, and no row is lost or doubled on the way."""

from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs, last_by_key
from tests.harness.runs.run_systems import ON_SPARK

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
ROWS: list[Row] = [{"user": f"u{i % 5}", "n": i} for i in range(20)]
OUT = {"name": "out"}
CODE = "tests.harness.user_code.graph_code"


def test_two_operators_may_send_other_columns_to_one_stream(env: AppEnv) -> None:
    made = app(
        {"name": "a", "map": {"from": "events", "select": "n, user"}},
        {"name": "b", "map": {"from": "events", "select": "user AS who, n > 3 AS large"}},
        {"name": "sent-a", "sendTo": {"from": "a", "stream": "out"}},
        {"name": "sent-b", "sendTo": {"from": "b", "stream": "out"}},
        streams=[EVENTS, OUT],
    )
    env.write("events", inputs(ROWS, "user"))
    env.run(made)
    assert env.rows("out") == in_order(
        [*ROWS, *({"who": row["user"], "large": row["n"] > 3} for row in ROWS)]
    )


def test_a_stream_merged_with_itself_and_joined_with_itself_meets_itself(env: AppEnv) -> None:
    made = app(
        {"name": "twice", "merge": {"from": ["events", "events"]}},
        {"name": "sent", "sendTo": {"from": "twice", "stream": "out"}},
        {
            "name": "met",
            "join": {
                "from": ["events", "events"],
                "within": "1h",
                "time": "arrival",
                "select": "left.n AS n, right.n AS m",
            },
        },
        {"name": "told", "sendTo": {"from": "met", "stream": "pairs"}},
        streams=[EVENTS, OUT, {"name": "pairs"}],
    )
    env.write("events", inputs(ROWS, "user"))
    env.run(made)
    assert env.rows("out") == in_order(ROWS + ROWS)
    same = [{"n": a["n"], "m": b["n"]} for a in ROWS for b in ROWS if a["user"] == b["user"]]
    assert env.rows("pairs") == in_order(same)


def test_an_operator_that_nobody_reads_harms_nobody(env: AppEnv) -> None:
    made = app(
        {"name": "unread", "map": {"from": "events", "select": "n + 1 AS n"}},
        {"name": "counted", "aggregate": {"from": "events", "aggregates": "count(*) AS c"}},
        {
            "name": "mapped",
            "map": {"from": "events", "python": f"{CODE}:picky", "columns": "user STRING, n INT"},
        },
        {"name": "moved", "partitionBy": {"from": "events", "key": "n"}},
        {"name": "sent", "sendTo": {"from": "events", "stream": "out"}},
        streams=[EVENTS, OUT],
    )
    env.write("events", inputs(ROWS[:13], "user"))
    env.run(made)
    assert env.rows("out") == in_order(ROWS[:13])


@ON_SPARK
def test_a_class_fills_a_table_that_a_join_after_sql_reads(env: AppEnv) -> None:
    made = app(
        {
            "name": "filled",
            "process": {
                "from": "events",
                "python": f"{CODE}:Keeping",
                "tables": ["seen"],
                "columns": "user STRING, n INT",
                "key": "user",
            },
        },
        {"name": "more", "map": {"from": "filled", "select": "user, try_add(abs(n), 1) AS n"}},
        {"name": "moved", "partitionBy": {"from": "more", "key": "user"}},
        {"name": "with", "joinTable": {"from": "moved", "table": "seen", "select": "user, n, last"}},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[EVENTS, OUT],
        tables=[{"name": "seen", "columns": "last INT"}],
    )
    env.write("events", inputs(ROWS[:5], "user"))
    env.run(made)
    assert env.rows("out") == in_order(
        [{"user": r["user"], "n": r["n"] + 1, "last": r["n"]} for r in ROWS[:5]]
    )


def test_a_python_flat_map_gives_any_number_of_rows_and_passes_tombstones(env: AppEnv) -> None:
    made = app(
        {
            "name": "each",
            "flatMap": {
                "from": "events",
                "python": f"{CODE}:doubled",
                "columns": "user STRING, n INT",
                "key": "user",
            },
        },
        {"name": "sent", "sendTo": {"from": "each", "stream": "out"}},
        streams=[EVENTS, OUT],
    )
    env.write("events", [*inputs(ROWS, "user"), Input("gone", None)])
    env.run(made)
    values = [record.value for record in env.records("out")]
    assert in_order([value for value in values if value]) == in_order(ROWS + ROWS)
    assert values.count(None) == 1


def test_every_kind_of_column_passes_through_sql_tables_and_streams(env: AppEnv) -> None:
    columns = (
        "k STRING, i TINYINT, s SMALLINT, l BIGINT, f FLOAT, d DOUBLE, m DECIMAL(20, 4), b BOOLEAN, "
        "y BINARY, at TIMESTAMP, day DATE, a ARRAY<INT>, o STRUCT<x: INT, y: STRING>, mp MAP<STRING, INT>"
    )
    numbers = {"i": 1, "s": 2, "l": 3, "f": 0.5, "d": 0.25, "m": 12.5, "b": True}
    times = {"at": "2026-01-31T12:00:00.000000Z", "day": "2026-01-31"}
    row = {"k": "a", "y": "AAE=", "a": [1, 2], "o": {"x": 1, "y": "z"}, "mp": {"p": 1}, **numbers, **times}
    made = app(
        {"name": "moved", "partitionBy": {"from": "all", "key": "k"}},
        {"name": "kept", "sendToTable": {"from": "moved", "table": "t"}},
        {"name": "keys", "map": {"from": "asked", "select": "k"}},
        {"name": "with", "joinTable": {"from": "keys", "table": "t", "select": "t.*"}},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[
            {"name": "all", "key": "k", "columns": columns},
            {"name": "asked", "key": "k", "columns": "k STRING"},
            OUT,
        ],
        tables=[{"name": "t"}],
    )
    env.write("all", [Input("a", row), Input("b", {"k": "b"})])
    env.write("asked", [])
    env.run(made)
    env.write("asked", inputs([{"k": "a"}, {"k": "b"}], "k"))
    env.run(made)
    found = last_by_key(env.records("out"))
    assert found["a"] == row
    assert {name: value for name, value in found["b"].items() if value is not None} == {"k": "b"}
