"""Apps with tables: what is joined is what the table held."""

import pytest

from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs, last_by_key
from tests.harness.runs.run_systems import ON_SPARK

VIEWS = {"name": "views", "key": "user", "columns": "user STRING, n INT"}
USERS = {"name": "users", "key": "user", "columns": "user STRING, tier INT"}
OUT = {"name": "out"}
TIERS = {"name": "tiers", "sideInputs": [{"stream": "users", "bootstrap": True}]}

VIEW_ROWS: list[Row] = [{"user": f"u{i % 9}", "n": i} for i in range(40)]
USER_ROWS: list[Row] = [{"user": f"u{i}", "tier": 10 * i} for i in range(6)]


def joined(rows: list[Row], kind: str) -> list[Row]:
    tiers = {row["user"]: row["tier"] for row in USER_ROWS}
    found = [row | {"tier": tiers.get(row["user"])} for row in rows if kind == "left" or row["user"] in tiers]
    return in_order([{name: value for name, value in row.items() if value is not None} for row in found])


def without_nulls(rows: list[Row]) -> list[Row]:
    return in_order([{name: value for name, value in row.items() if value is not None} for row in rows])


def test_an_inner_and_a_left_join_of_one_table_give_what_the_table_held(env: AppEnv) -> None:
    env.write("users", inputs(USER_ROWS, "user"))
    env.write("views", inputs(VIEW_ROWS, "user"))
    made = app(
        {"name": "inner", "joinTable": {"from": "views", "table": "tiers", "select": "user, n, tier"}},
        {
            "name": "left",
            "joinTable": {"from": "views", "table": "tiers", "type": "left", "select": "user, n, tier"},
        },
        {"name": "a", "sendTo": {"from": "inner", "stream": "out"}},
        {"name": "b", "sendTo": {"from": "left", "stream": "kept"}},
        streams=[VIEWS, USERS, OUT, {"name": "kept"}],
        tables=[TIERS],
    )
    env.run(made, rows=15)
    assert without_nulls(env.rows("out")) == joined(VIEW_ROWS, "inner")
    assert without_nulls(env.rows("kept")) == joined(VIEW_ROWS, "left")


@ON_SPARK
def test_a_table_joined_twice_with_sql_between_gives_the_same_row_twice(env: AppEnv) -> None:
    env.write("users", inputs(USER_ROWS, "user"))
    env.write("views", inputs(VIEW_ROWS, "user"))
    made = app(
        {"name": "once", "joinTable": {"from": "views", "table": "tiers", "select": "user, n, tier"}},
        {"name": "more", "map": {"from": "once", "select": "user, n, try_add(abs(tier), 1) AS first"}},
        {"name": "twice", "joinTable": {"from": "more", "table": "tiers", "select": "user, n, first, tier"}},
        {"name": "sent", "sendTo": {"from": "twice", "stream": "out"}},
        streams=[VIEWS, USERS, OUT],
        tables=[TIERS],
    )
    env.run(made)
    expected = [row | {"first": row["tier"] + 1} for row in joined(VIEW_ROWS, "inner")]
    assert env.rows("out") == in_order(expected)


@ON_SPARK
def test_two_tables_in_both_orders_on_two_branches(env: AppEnv) -> None:
    env.write("users", inputs(USER_ROWS, "user"))
    env.write("views", inputs(VIEW_ROWS, "user"))
    sides = [{"stream": "users", "bootstrap": True}]
    made = app(
        {"name": "a1", "joinTable": {"from": "views", "table": "a", "select": "user, n, a.tier AS x"}},
        {"name": "a2", "map": {"from": "a1", "select": "user, n, try_add(abs(x), 1) AS x"}},
        {"name": "a3", "joinTable": {"from": "a2", "table": "b", "select": "user, n, x, b.tier AS y"}},
        {"name": "b1", "joinTable": {"from": "views", "table": "b", "select": "user, n, b.tier AS x"}},
        {"name": "b2", "map": {"from": "b1", "select": "user, n, try_add(abs(x), 1) AS x"}},
        {"name": "b3", "joinTable": {"from": "b2", "table": "a", "select": "user, n, x, a.tier AS y"}},
        {"name": "all", "merge": {"from": ["a3", "b3"]}},
        {"name": "sent", "sendTo": {"from": "all", "stream": "out"}},
        streams=[VIEWS, USERS, OUT],
        tables=[{"name": "a", "sideInputs": sides}, {"name": "b", "sideInputs": sides}],
    )
    env.run(made)
    once = [
        {"user": row["user"], "n": row["n"], "x": row["tier"] + 1, "y": row["tier"]}
        for row in joined(VIEW_ROWS, "inner")
    ]
    assert env.rows("out") == in_order(once + once)


@pytest.mark.parametrize("changelog", [True, False])
def test_a_row_that_is_sent_to_a_table_is_found_and_one_that_deletes_is_gone(
    env: AppEnv, changelog: bool
) -> None:
    changes = [{"user": "a", "tier": 1}, {"user": "b", "tier": 2}, {"user": "a", "tier": -1}]
    made = app(
        {"name": "kept", "sendToTable": {"from": "users", "table": "tiers", "deleteWhere": "tier < 0"}},
        {
            "name": "with",
            "joinTable": {"from": "views", "table": "tiers", "type": "left", "select": "user, n, tier"},
        },
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[VIEWS, USERS, OUT],
        tables=[{"name": "tiers", "changelog": changelog}],
    )
    env.write("users", inputs(changes, "user"))
    env.write("views", [])
    env.run(made)
    env.write("views", inputs([{"user": "a", "n": 1}, {"user": "b", "n": 2}], "user"))
    env.run(made)
    assert without_nulls(env.rows("out")) == [{"user": "a", "n": 1}, {"user": "b", "n": 2, "tier": 2}]


@ON_SPARK
def test_a_tombstone_deletes_its_row_from_a_table_and_reaches_the_output_as_one(env: AppEnv) -> None:
    env.write(
        "users",
        [Input("a", {"user": "a", "tier": 1}), Input("b", {"user": "b", "tier": 2}), Input("a", None)],
    )
    env.write("views", [])
    made = app(
        {
            "name": "with",
            "joinTable": {"from": "views", "table": "tiers", "type": "left", "select": "user, n, tier"},
        },
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        {"name": "copied", "map": {"from": "users", "select": "user, try_add(abs(tier), 1) AS tier"}},
        {"name": "told", "sendTo": {"from": "copied", "stream": "copy"}},
        streams=[VIEWS, USERS, OUT, {"name": "copy", "key": "user"}],
        tables=[TIERS],
    )
    env.run(made)
    env.write("views", inputs([{"user": "a", "n": 1}, {"user": "b", "n": 2}], "user"))
    env.run(made)
    assert without_nulls(env.rows("out")) == [{"user": "a", "n": 1}, {"user": "b", "n": 2, "tier": 2}]
    assert last_by_key(env.records("copy")) == {"a": None, "b": {"user": "b", "tier": 3}}


def test_a_cycle_through_a_table_sees_each_row_of_an_earlier_batch(env: AppEnv) -> None:
    payments = [{"account": account, "amount": amount} for account in "ab" for amount in (1, 2, 3)]
    made = app(
        {"name": "by-account", "partitionBy": {"from": "payments", "key": "account"}},
        {
            "name": "old",
            "joinTable": {
                "from": "by-account",
                "table": "balances",
                "type": "left",
                "select": "account, amount, balance",
            },
        },
        {
            "name": "new",
            "map": {"from": "old", "select": "account, coalesce(balance, 0) + amount AS balance"},
        },
        {"name": "kept", "sendToTable": {"from": "new", "table": "balances"}},
        {"name": "told", "sendTo": {"from": "new", "stream": "out"}},
        streams=[
            {"name": "payments", "key": "account", "columns": "account STRING, amount INT"},
            {"name": "out", "key": "account"},
        ],
        tables=[{"name": "balances", "columns": "account STRING, balance INT"}],
    )
    for payment in payments:
        env.write("payments", inputs([payment], "account"))
        env.run(made)
    assert last_by_key(env.records("out")) == {
        account: {"account": account, "balance": 6} for account in "ab"
    }


def test_rows_without_a_key_that_nobody_checks_meet_nothing_in_a_table_and_lie_in_no_table(
    env: AppEnv,
) -> None:
    env.write("users", [Input(None, {"tier": 1}), Input("b", {"user": "b", "tier": 2})])
    env.write("views", [Input(None, {"n": 1}), Input("b", {"user": "b", "n": 2})])
    made = app(
        {
            "name": "with",
            "joinTable": {"from": "views", "table": "tiers", "type": "left", "select": "user, n, tier"},
        },
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[VIEWS | {"keys": "unchecked"}, USERS | {"keys": "unchecked"}, OUT],
        tables=[TIERS],
    )
    env.run(made)
    assert without_nulls(env.rows("out")) == in_order([{"n": 1}, {"user": "b", "n": 2, "tier": 2}])
