"""Records whose key is not the one that their stream declares, in apps that rely on it."""

from typing import Any

import pytest

from streamapp_runtime.driver.failures import FinalFailureError
from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.run_systems import ON_BOTH

VIEWS = {"name": "views", "key": "user", "columns": "user STRING, page STRING, n INT"}
USERS = {"name": "users", "key": "user", "columns": "user STRING, country STRING"}
LETTERS: Row = {"action": "deadLetter", "stream": "letters"}
CODE = "tests.harness.user_code.graph_code"
USER_ROWS: list[Row] = [{"user": f"u{number}", "country": f"C{number % 3}"} for number in range(8)]
VIEW_ROWS: list[Row] = [{"user": f"u{number}", "page": f"/{number}", "n": number} for number in range(8)]
JOINED = [row | {"country": f"C{row['n'] % 3}"} for row in VIEW_ROWS]


def joining(*before: Row, views: Row = VIEWS, on_bad: Row = LETTERS, name: str = "app") -> Any:
    source = before[-1]["name"] if before else "views"
    joined = {"from": source, "table": "people", "select": "user, page, n, country"}
    return app(
        *before,
        {"name": "joined", "joinTable": joined},
        {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
        streams=[views, USERS, {"name": "out"}, {"name": "letters"}],
        tables=[{"name": "people", "sideInputs": [{"stream": "users", "bootstrap": True}]}],
        name=name,
        onBadRecord=on_bad,
    )


def reasons(env: AppEnv) -> list[str]:
    return [letter["reason"] for letter in env.rows("letters")]


@ON_BOTH
def test_a_join_sets_aside_what_it_would_miss_and_has_all_of_it_behind_a_repartition(env: AppEnv) -> None:
    env.write("users", inputs(USER_ROWS, "user"), 4)
    env.write("views", inputs(VIEW_ROWS, "page"), 4)
    env.run(joining())
    assert env.rows("out") == []
    assert len(reasons(env)) == 8
    assert all('its key is "/' in why and 'column user is "u' in why for why in reasons(env))
    assert all("put a partitionBy before what needs the key" in why for why in reasons(env))
    again = {"name": "by-user", "partitionBy": {"from": "views", "key": "user"}}
    env.run(joining(again, on_bad={"action": "fail"}, name="mended"))
    assert env.rows("out") == in_order(JOINED)


def test_a_record_that_was_written_without_a_key_is_set_aside_unless_it_lies_right_by_chance(
    env: AppEnv,
) -> None:
    env.write("users", inputs(USER_ROWS, "user"), 4)
    env.write("views", inputs(VIEW_ROWS), 4)
    env.run(joining())
    lost = reasons(env)
    assert all("belongs in partition" in why and " of 4" in why for why in lost)
    assert 0 < len(lost) < 8
    joined = env.rows("out")
    assert len(joined) + len(lost) == 8
    assert all(row in JOINED for row in joined)


def test_the_app_ends_at_such_a_record_and_says_which_it_is_and_what_mends_it(env: AppEnv) -> None:
    env.write("users", inputs(USER_ROWS, "user"), 4)
    env.write("views", [Input("u1", VIEW_ROWS[1]), Input("wrong", VIEW_ROWS[2])], 1)
    env.grow("views", 4)
    with pytest.raises(FinalFailureError) as failed:
        env.run(joining(on_bad={"action": "fail"}))
    assert "views#0 at offset" in str(failed.value)
    assert "partitionBy" in str(failed.value)
    assert "keys: unchecked" in str(failed.value)
    assert env.rows("out") == []


def test_what_fills_a_table_is_checked_as_well(env: AppEnv) -> None:
    env.write("users", inputs(USER_ROWS, "country"), 4)
    env.write("views", inputs(VIEW_ROWS, "user"), 4)
    env.run(joining())
    assert (env.rows("out"), len(reasons(env))) == ([], 8)


def test_a_table_that_is_whole_everywhere_needs_the_right_keys_in_any_partition(env: AppEnv) -> None:
    rows = inputs(USER_ROWS[:7], "user")
    env.write("users", rows, 1)
    env.grow("users", 3)
    env.write("users", [Input("C1", USER_ROWS[7])], 3)
    env.write("views", inputs(VIEW_ROWS, "page"), 4)
    made = app(
        {"name": "joined", "joinTable": {
            "from": "views", "table": "people", "key": "user", "select": "user, page, n, country",
        }},
        {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
        streams=[VIEWS, USERS, {"name": "out"}, {"name": "letters"}],
        tables=[{
            "name": "people", "store": "memory", "broadcast": True,
            "sideInputs": [{"stream": "users", "bootstrap": True}],
        }],
        onBadRecord=LETTERS,
    )  # fmt: skip
    env.run(made)
    assert env.rows("out") == in_order(JOINED[:7])
    assert ['its key is "C1"' in why for why in reasons(env)] == [True]


@pytest.mark.parametrize("key", ["page", None])
def test_no_group_is_counted_in_two_tasks(env: AppEnv, key: str | None) -> None:
    rows = [{"user": f"u{n % 4}", "page": f"/{n}", "n": 1} for n in range(40)]
    env.write("views", inputs(rows, key), 4)
    counted = {
        "name": "counted",
        "aggregate": {"from": "views", "key": "user", "aggregates": "count(*) AS n"},
    }
    made = app(
        counted,
        {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        streams=[VIEWS, {"name": "out", "key": "user"}, {"name": "letters"}],
        onBadRecord=LETTERS,
    )
    env.run(made)
    last = {record.key: record.value["n"] for record in env.records("out")}
    assert sum(last.values()) + len(reasons(env)) == 40
    assert len(reasons(env)) >= 20


def test_a_record_without_any_key_is_bad_where_keys_matter(env: AppEnv) -> None:
    env.write("users", inputs(USER_ROWS, "user"), 4)
    env.write("views", [*inputs(VIEW_ROWS, "user"), Input(None, {"user": None, "page": "/", "n": 9})], 4)
    env.run(joining())
    assert env.rows("out") == in_order(JOINED)
    (why,) = reasons(env)
    assert "its column user is null, so that it belongs to no task" in why


def test_what_a_class_of_the_app_is_given_is_checked_too(env: AppEnv) -> None:
    env.write("views", inputs(VIEW_ROWS, "page"), 4)
    process = {
        "from": "views",
        "python": f"{CODE}:Counting",
        "columns": "user STRING, seen BIGINT",
    }
    made = app(
        {"name": "counted", "process": process},
        {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        streams=[VIEWS, {"name": "out"}, {"name": "letters"}],
        onBadRecord=LETTERS,
    )  # fmt: skip
    env.run(made)
    assert (env.rows("out"), len(reasons(env))) == ([], 8)


def test_keys_that_are_unchecked_are_taken_as_they_are(env: AppEnv) -> None:
    env.write("users", inputs(USER_ROWS, "user"), 4)
    env.write("views", inputs(VIEW_ROWS, "page"), 4)
    env.run(joining(views=VIEWS | {"keys": "unchecked"}))
    assert reasons(env) == []
    assert len(env.rows("out")) < 8


def test_where_nothing_relies_on_the_key_any_will_do(env: AppEnv) -> None:
    env.write("views", inputs(VIEW_ROWS, "page"), 4)
    sent = {"name": "sent", "sendTo": {"from": "views", "stream": "out"}}
    env.run(app(sent, streams=[VIEWS, {"name": "out"}]))
    assert env.rows("out") == in_order(VIEW_ROWS)


@ON_BOTH
def test_records_of_before_a_growth_are_taken_and_what_is_in_no_partition_of_its_task_is_not(
    env: AppEnv,
) -> None:
    env.write("users", inputs(USER_ROWS, "user"), 2)
    env.write("views", inputs(VIEW_ROWS, "user"), 2)
    run = Run.start(env, joining())
    run.to_the_end()
    env.write("views", inputs(VIEW_ROWS, "user"), 2)
    env.grow("views", 4)
    env.write("views", inputs(VIEW_ROWS, "user"), 4)
    assert run.review() == ["views went from 2 to 4 partitions"]
    run.to_the_end()
    assert env.rows("out") == in_order(JOINED * 3)
    assert reasons(env) == []
    env.write("views", inputs(VIEW_ROWS, "page"), 4)
    run.to_the_end()
    assert (env.rows("out"), len(reasons(env))) == (in_order(JOINED * 3), 8)
