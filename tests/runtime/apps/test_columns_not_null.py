"""NOT NULL in a column list: a record without the value is bad, wherever the list stands."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from streamapp.testing import TestApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.failures import FinalFailureError
from tests.harness.core.app_resources import app_resource
from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs
from tests.harness.runs.run_systems import ON_SPARK, ON_SPARK_BY_NIGHT

PLAIN = "user STRING, n INT"
REQUIRED = "user STRING, n INT NOT NULL"
LETTERS: Row = {"action": "deadLetter", "stream": "letters"}
CODE = "tests.harness.user_code.graph_code"
ROWS: list[Row] = [{"user": f"u{number}", "n": None if number == 3 else number} for number in range(6)]
WHOLE = [row for row in ROWS if row["n"] is not None]


def copying(
    *operators: Row, columns: str = PLAIN, out: str = PLAIN, on_bad: Row = LETTERS, **spec: Any
) -> Any:
    last = operators[-1]["name"] if operators else "events"
    return app(
        *operators,
        {"name": "sent", "sendTo": {"from": last, "stream": "out"}},
        streams=[
            {"name": "events", "key": "user", "columns": columns},
            {"name": "out", "columns": out},
            {"name": "letters"},
        ],
        onBadRecord=on_bad,
        **spec,
    )


def set_aside(env: AppEnv, reason: str) -> None:
    """One record was, the one with the null."""
    assert env.rows("out") == in_order(WHOLE)
    (letter,) = env.rows("letters")
    assert reason in letter["reason"]
    assert letter["stream"] == "events"


def test_a_null_in_such_a_column_of_what_is_read_is_a_bad_record_and_a_tombstone_is_none(env: AppEnv) -> None:
    env.write("events", [*inputs(ROWS, "user"), Input("u1", None)])
    env.run(copying(columns=REQUIRED))
    assert [record.value for record in env.records("out")].count(None) == 1
    assert in_order([r.value for r in env.records("out") if r.value is not None]) == in_order(WHOLE)
    (letter,) = env.rows("letters")
    assert letter["reason"] == "n: is missing or null and must not be"


def test_the_app_ends_at_it_and_says_where_it_is(env: AppEnv) -> None:
    env.write("events", inputs([{"user": "u1", "n": 1}, {"user": "u2"}], "user"), 1)
    with pytest.raises(FinalFailureError, match=r'events#0 at offset 1, key "[^"]+": n: is missing or null'):
        env.run(copying(columns=REQUIRED, on_bad={"action": "fail"}))


@ON_SPARK
def test_a_null_in_such_a_column_of_what_is_written_is_a_bad_record(env: AppEnv) -> None:
    env.write("events", inputs(ROWS, "user"))
    env.run(copying(out=REQUIRED))
    set_aside(env, 'column "n" of stream "out" is NOT NULL, and the row has no value for it')


def test_such_a_column_of_what_is_written_needs_no_spark_and_a_tombstone_has_none(
    streamapp: Callable[..., TestApp],
) -> None:
    types = {"user": "STRING", "n": "INT", "price": "DECIMAL(9, 2)", "tags": "ARRAY<STRING>"}
    columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
    required = ", ".join(f"{name} {kind} NOT NULL" for name, kind in types.items())
    streams = [
        {"name": "events", "key": "user", "columns": columns},
        {"name": "out", "columns": required},
        {"name": "letters"},
    ]
    sent = {"name": "sent", "sendTo": {"from": "events", "stream": "out"}}
    started = streamapp(app_resource(streams=streams, operators=[sent], onBadRecord=LETTERS))
    whole = {"user": "ann", "n": 1, "price": Decimal("1.50"), "tags": ["a"]}
    started.send("events", [whole, *({**whole, name: None} for name in ("n", "price", "tags"))])
    started.delete("events", "ann")
    assert started.rows("out") == [whole, None]
    assert [seen.reason for seen in started.bad()] == [
        f'column "{name}" of stream "out" is NOT NULL, and the row has no value for it'
        for name in ("n", "price", "tags")
    ]


@ON_SPARK_BY_NIGHT
def test_a_null_in_such_a_column_of_what_a_function_gives_is_a_bad_record(env: AppEnv) -> None:
    env.write("events", inputs(ROWS, "user"))
    given = {"name": "given", "map": {"from": "events", "python": f"{CODE}:picky", "columns": REQUIRED}}
    env.run(copying(given))
    set_aside(env, 'column "n" of operator "given" is NOT NULL')


@ON_SPARK_BY_NIGHT
def test_a_null_in_such_a_column_of_a_table_is_a_bad_record(env: AppEnv) -> None:
    env.write("events", inputs(ROWS, "user"))
    put = {"name": "put", "sendToTable": {"from": "events", "table": "last"}}
    looked_up = {
        "name": "with",
        "joinTable": {"from": "events", "table": "last", "select": "user, last.n AS n"},
    }
    env.run(copying(put, looked_up, tables=[{"name": "last", "columns": REQUIRED}]))
    env.write("events", inputs(WHOLE, "user"))
    env.run(copying(put, looked_up, tables=[{"name": "last", "columns": REQUIRED}]))
    set_aside(env, 'column "n" of table "last" is NOT NULL')


def test_a_class_that_puts_a_null_into_such_a_column_of_a_table_fails_on_the_record(env: AppEnv) -> None:
    env.write("events", inputs(ROWS, "user"))
    process = {"from": "events", "python": f"{CODE}:Keeping", "tables": ["seen"], "columns": PLAIN}
    made = copying(
        {"name": "kept", "process": process},
        tables=[{"name": "seen", "columns": "last INT NOT NULL"}],
        onCodeError=LETTERS,
    )
    env.run(made)
    set_aside(env, 'column "last" of the table is NOT NULL')


def test_not_null_inside_a_type_is_refused_since_nothing_checks_it(env: AppEnv) -> None:
    env.system.create("events", 1)
    with pytest.raises(AppRefusedError) as refused:
        env.launched(copying(columns="user STRING, s STRUCT<a: INT NOT NULL>"))
    assert [problem.path for problem in refused.value.problems] == ["spec.streams[0].columns"]
