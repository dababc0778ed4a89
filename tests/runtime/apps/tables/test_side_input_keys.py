"""Tables whose keys and values are made of a side input's records."""

import json
from base64 import b64decode
from typing import Any

import pytest

from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.failures import FinalFailureError
from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs
from tests.harness.runs.run_systems import ON_BOTH, ON_SPARK

VIEWS = {"name": "views", "key": "user", "columns": "user STRING, n INT"}
USERS = {"name": "users", "key": "id", "columns": "id STRING, name STRING, tier INT, op STRING"}
CODE = "tests.harness.user_code.graph_code"
ROWS: list[Row] = [{"id": "1", "name": "Ann", "tier": 10}, {"id": "2", "name": "Bob", "tier": 20}]
FOUND = ["ann", "bob", "1", "2", "u1", "u2"]


def filled(side: Row, columns: str | None = None, *, broadcast: bool = False, **spec: Any) -> Any:
    """An app that says what the table holds for each key asked for."""
    table = {"name": "tiers", "sideInputs": [{"stream": "users", "bootstrap": True, **side}]}
    table |= {"broadcast": broadcast}
    body = {"from": "views", "table": "tiers", "select": "user, tier"}
    return app(
        {"name": "with", "joinTable": body},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[VIEWS, USERS, {"name": "out"}, {"name": "letters"}],
        tables=[table | ({"columns": columns} if columns else {})],
        **spec,
    )


def held(env: AppEnv, made: Any, records: list[Input], partitions: int = 1) -> list[Row]:
    env.write("users", records, partitions)
    env.write("views", inputs([{"user": user, "n": 1} for user in FOUND], "user"), partitions)
    env.run(made)
    return env.rows("out")


def test_a_key_is_made_of_the_record(env: AppEnv) -> None:
    found = held(env, filled({"key": "lower(name)"}), inputs(ROWS, "id"))
    assert found == in_order([{"user": "ann", "tier": 10}, {"user": "bob", "tier": 20}])


def test_a_value_is_made_of_the_record_and_gives_the_table_its_columns(env: AppEnv) -> None:
    found = held(env, filled({"value": "tier + 1 AS tier"}), inputs(ROWS, "id"), partitions=2)
    assert found == in_order([{"user": "1", "tier": 11}, {"user": "2", "tier": 21}])


@ON_SPARK
def test_a_value_is_cast_to_the_tables_columns(env: AppEnv) -> None:
    found = held(env, filled({"value": "tier"}, columns="tier STRING"), inputs(ROWS, "id"))
    assert found == in_order([{"user": "1", "tier": "10"}, {"user": "2", "tier": "20"}])


@ON_SPARK
def test_a_record_without_a_value_deletes_what_its_own_key_says(env: AppEnv) -> None:
    made = filled({"key": "concat('u', id)", "value": "tier"})
    assert held(env, made, [*inputs(ROWS, "id"), Input("1", None)]) == [{"user": "u2", "tier": 20}]


def test_a_record_whose_key_is_null_is_left_out_and_counted(env: AppEnv) -> None:
    env.write("views", inputs([{"user": "ann", "n": 1}], "user"), 1)
    nameless = {"id": "3", "name": None, "tier": 30}
    # Of the last record nothing is known but a key that says nothing of names.
    env.write("users", [*inputs([*ROWS, nameless], "id"), Input("1", None)], 1)
    batches = env.run(filled({"key": "lower(name)"}))
    assert env.rows("out") == [{"user": "ann", "tier": 10}]
    counted = [each for batch in batches for report in batch.reports for each in report.counted]
    assert [each for each in counted if each[0] == "nullKeys"] == [("nullKeys", "tiers", 2)]


def test_a_function_of_the_app_gives_keys_and_rows_and_says_what_is_deleted(env: AppEnv) -> None:
    changes = [row | {"op": "put"} for row in ROWS]
    changes.append({"id": "1", "name": "Ann", "tier": None, "op": "delete"})
    made = filled({"python": f"{CODE}:changes"}, columns="tier INT")
    assert held(env, made, [Input(None, row) for row in changes]) == [{"user": "2", "tier": 20}]


def test_a_function_that_says_no_keys_ends_the_app_with_its_name(env: AppEnv) -> None:
    made = filled({"python": f"{CODE}:keyless"}, columns="tier INT")
    with pytest.raises(FinalFailureError, match="keyless gave no column __key"):
        held(env, made, inputs(ROWS, "id"))


@ON_SPARK
@pytest.mark.parametrize(
    ("side", "columns", "path", "why"),
    [
        ({"key": "nme"}, None, "sideInputs[0].key", 'did you mean "name"?'),
        ({"value": "tier +"}, None, "sideInputs[0].value", "Syntax error"),
        ({"value": "name"}, "tier INT", "sideInputs[0].value", 'has a column "tier"'),
        ({"python": f"{CODE}:changes"}, None, "columns", "nothing says which columns"),
        ({"python": f"{CODE}:absent"}, "tier INT", "sideInputs[0]", "has no attribute 'absent'"),
    ],
)
def test_what_cannot_fill_a_table_is_refused_where_it_stands(
    env: AppEnv, side: Row, columns: str | None, path: str, why: str
) -> None:
    env.system.create("users", 2)
    env.system.create("views", 2)
    with pytest.raises(AppRefusedError) as caught:
        env.launched(filled(side, columns))
    (problem,) = caught.value.problems
    assert problem.path == f"spec.tables[0].{path}"
    assert why in problem.message


MANY: list[Row] = [{"id": f"{n}", "name": f"u{n}", "tier": n} for n in range(40)]
LETTERS: Row = {"action": "deadLetter", "stream": "letters"}


def many_joined(env: AppEnv, made: Any) -> list[Row]:
    env.write("users", [*inputs(MANY, "id"), Input("1", None)], 4)
    env.write("views", inputs([{"user": row["name"], "n": 1} for row in MANY], "user"), 4)
    env.run(made)
    return env.rows("out")


@ON_BOTH
@pytest.mark.parametrize("function", ["renamed", "renamed_by_row"])
def test_a_record_of_which_a_function_makes_a_key_of_another_task_is_set_aside(
    env: AppEnv, function: str
) -> None:
    made = filled({"python": f"{CODE}:{function}"}, columns="tier INT", onBadRecord=LETTERS)
    found = many_joined(env, made)
    letters = env.rows("letters")
    lost = {json.loads(b64decode(letter["value"]))["name"] for letter in letters}
    assert 0 < len(lost) == len(letters) < 40
    assert found == in_order([{"user": r["name"], "tier": r["tier"]} for r in MANY if r["name"] not in lost])
    for letter in letters:
        assert letter["stream"] == "users"
        assert f'graph_code:{function} made of it a row whose key "u' in letter["reason"]
        assert "make the table broadcast" in letter["reason"]


def test_the_app_ends_at_such_a_record_and_says_which_it_is(env: AppEnv) -> None:
    made = filled({"python": f"{CODE}:renamed"}, columns="tier INT")
    expected = r'users#\d at offset \d+, key "[^"]+": .* belongs in partition \d of 4'
    with pytest.raises(FinalFailureError, match=expected):
        many_joined(env, made)


def test_a_function_may_give_any_keys_for_a_table_that_is_whole_everywhere(env: AppEnv) -> None:
    made = filled({"python": f"{CODE}:renamed"}, columns="tier INT", broadcast=True)
    assert many_joined(env, made) == in_order([{"user": r["name"], "tier": r["tier"]} for r in MANY])


def test_where_all_partitions_are_of_one_task_any_key_will_do(env: AppEnv) -> None:
    found = held(env, filled({"key": "lower(name)"}, grouper="single"), inputs(ROWS, "id"), partitions=2)
    assert found == in_order([{"user": "ann", "tier": 10}, {"user": "bob", "tier": 20}])
