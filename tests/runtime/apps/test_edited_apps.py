"""An app that was edited starts over the state that it has only where that state still means the same."""

import subprocess
from typing import Any

import pytest

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.checkpoint_entries import STATE_SCHEMAS
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.driver.reporting.run_messages import plan_message
from tests.harness.runs.app_runs import AppEnv, app, inputs, last_by_key
from tests.harness.runs.run_systems import ON_SPARK, ON_SPARK_AND_KAFKA

ROWS = [{"user": f"u{n % 3}", "page": f"/{n % 2}", "n": n} for n in range(12)]
COLUMNS = "user STRING, page STRING, n INT"


def totals(name: str = "total", columns: str = COLUMNS, key: str = "user", **aggregate: Any) -> StreamApp:
    body = {"from": "by", "aggregates": "sum(n) AS total"} | aggregate
    return app(
        {"name": "by", "partitionBy": {"from": "events", "key": key, "partitions": 2}},
        {"name": name, "aggregate": body},
        {"name": "sent", "sendTo": {"from": name, "stream": "out"}},
        streams=[{"name": "events", "key": "user", "columns": columns}, {"name": "out"}],
        onBadRecord={"action": "skip"},
    )


@pytest.fixture
def run_before(env: AppEnv) -> AppEnv:
    env.write("events", inputs(ROWS, "user"))
    env.run(totals())
    return env


@ON_SPARK_AND_KAFKA
@pytest.mark.parametrize(
    ("edited", "words"),
    [
        (totals(aggregates="sum(n) AS total, count(*) AS rows"), ["was sum(n) and is sum(n), count(*)"]),
        (totals(aggregates="max(n) AS total"), ["aggregates was sum(n) and is max(n)"]),
        (totals(key="page"), ["key was user and is page"]),
        (totals(columns=COLUMNS.replace("n INT", "n DOUBLE")), ["other names or types"]),
    ],
    ids=["another column", "another function", "another key", "another type"],
)
def test_an_edit_that_gives_state_another_meaning_is_refused_and_touches_nothing(
    run_before: AppEnv, edited: StreamApp, words: list[str]
) -> None:
    before = run_before.records("out")
    with pytest.raises(AppRefusedError) as refused:
        run_before.run(edited)
    (problem,) = refused.value.problems
    assert (problem.reason, problem.path) == (Reason.STATE_CHANGED, "spec.operators[1].aggregate")
    assert all(word in problem.message for word in ["the state of total", "resetNonce", *words])
    run_before.write("events", inputs(ROWS[:3], "user"))
    run_before.run(totals())  # the edit taken back
    after = last_by_key(run_before.records("out"))
    assert len(run_before.records("out")) > len(before)
    assert {user: row["total"] for user, row in after.items()} == {"u0": 18, "u1": 23, "u2": 28}


def test_an_operator_of_another_name_begins_anew_and_the_state_it_leaves_is_named(run_before: AppEnv) -> None:
    run_before.write("events", inputs(ROWS[:3], "user"))
    _, ready = run_before.launched(totals(name="renamed"))
    said = plan_message(ready).text
    assert "state that nothing in the app has any more, and that stays as it is: total" in said
    run_before.run(totals(name="renamed"))
    after = last_by_key(run_before.records("out"))
    assert {user: row["total"] for user, row in after.items()} == {"u0": 0, "u1": 1, "u2": 2}


@ON_SPARK
def test_state_goes_on_under_a_new_meaning_where_the_app_says_so(run_before: AppEnv) -> None:
    edited = totals(aggregates="sum(2 * n) AS total")
    spec = edited.spec.model_copy(update={"state_changes": "accept"})
    run_before.write("events", inputs(ROWS[:3], "user"))
    run_before.run(edited.model_copy(update={"spec": spec}))
    after = last_by_key(run_before.records("out"))
    assert {user: row["total"] for user, row in after.items()} == {"u0": 18, "u1": 24, "u2": 30}
    run_before.run(edited)  # which is the meaning now
    with pytest.raises(AppRefusedError, match=r"was sum\(2 \* n\) and is sum\(n\)"):
        run_before.run(totals())


def test_a_plan_of_what_is_there_refuses_the_edit_before_any_start(run_before: AppEnv) -> None:
    plan = run_before.planned(totals(key="page"))
    assert plan.exit_code == 1
    words = " ".join(plan.stdout.split())
    assert "total spec.operators[1].aggregate, line" in words
    assert "the state of total was written with another meaning" in words
    assert run_before.planned(totals()).exit_code == 0
    edited = totals(key="page")
    reset = edited.model_copy(update={"spec": edited.spec.model_copy(update={"reset_nonce": 1})})
    assert run_before.planned(reset).exit_code == 0


def test_a_reset_takes_an_edit_of_any_kind(run_before: AppEnv) -> None:
    edited = totals(aggregates="max(n) AS total")
    spec = edited.spec.model_copy(update={"reset_nonce": 1})
    run_before.write("events", inputs(ROWS[:3], "user"))
    run_before.run(edited.model_copy(update={"spec": spec}))
    assert run_before.records("out")


@pytest.mark.usefixtures("process")
def test_a_fresh_run_takes_an_edit_of_any_kind_once_says_what_it_dropped_and_reads_all_again(
    run_before: AppEnv,
) -> None:
    edited = totals(aggregates="max(n) AS total", key="page")
    run = run_before.command(edited, "--until-end")
    refused = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert (refused.returncode, "written with another meaning" in refused.stderr) == (1, True)
    assert refused.stderr.splitlines()[-1].startswith("a run with --fresh gives the state up")
    fresh = subprocess.run([*run, "--fresh"], capture_output=True, text=True, timeout=300, check=True)
    told = "starts from scratch, as --fresh says; dropped: all positions, the state of total"
    assert told in [line.strip() for line in fresh.stderr.splitlines()]
    after = last_by_key(run_before.records("out"))
    assert (after["/0"]["total"], after["/1"]["total"]) == (10, 11)
    written = len(run_before.records("out"))
    _, again = run_before.launched(edited)
    assert "dropped" not in plan_message(again).text
    run_before.run(edited)
    assert len(run_before.records("out")) == written


def test_rows_that_state_holds_in_another_form_end_the_app_and_are_never_bad_records(
    run_before: AppEnv,
) -> None:
    ledger, _ = run_before.launched(totals())
    transaction = ledger.system.begin(ledger.stream, ledger.incarnation)
    transaction.put(ledger.stream, STATE_SCHEMAS.key, None)  # as a version before has left it
    transaction.commit()
    run_before.write("events", inputs(ROWS[:3], "user"))
    with pytest.raises(FinalFailureError, match=r"left with its streams cannot be read: .* no row of"):
        run_before.run(totals(aggregates="sum(n) AS total, count(*) AS rows"))
