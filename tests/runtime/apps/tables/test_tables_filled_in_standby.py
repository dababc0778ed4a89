"""Tables that a driver which stands by fills from their streams: its lanes read on where that ended."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.standby.standby_program import standby_program
from streamapp_runtime.lanes.batches.standby_lane import packed_tasks, restore_standby_lane
from streamapp_runtime.lanes.task_stores.lane_stores import RestoreProgress
from tests.harness.engine.compiled_apps import expression_folder
from tests.harness.runs.app_runs import AppEnv, Input, Row, app, inputs
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.run_systems import ON_SPARK

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n BIGINT"}
PEOPLE = {"name": "people", "key": "user", "columns": "user STRING, name STRING, age INT"}
BY_PEOPLE = {"stream": "people", "bootstrap": True}


def joined(
    side: Mapping[str, Any] = BY_PEOPLE, table: Mapping[str, Any] | None = None, **spec: Any
) -> StreamApp:
    names = {"name": "names", "store": "lmdb", "sideInputs": [side], **(table or {})}
    return app(
        {"name": "met", "joinTable": {"from": "events", "table": "names", "select": "user, n, name"}},
        {"name": "sent", "sendTo": {"from": "met", "stream": "out"}},
        streams=[EVENTS, PEOPLE, {"name": "out", "key": "user"}, {"name": "bad"}],
        tables=[names],
        **spec,
    )


def person(number: int, name: str = "") -> Row:
    return {"user": f"u{number}", "name": name or f"U{number}", "age": number}


def warmed_up(env: AppEnv, made: StreamApp, seconds: float = 60.0) -> RestoreProgress:
    """What a driver that stands by does for the one lane of an app, whose own driver was here before."""
    _, launch = env.launched(made)
    context = replace(launch.context, ledger=CheckpointStream(env.system, launch.context.ledger.stream))
    context.ledger.look()
    program = standby_program(context, env.session, launch.model.processors)
    assert program is not None
    (tasks,) = program.lanes(context, launch.model).values()
    ((_, progress),) = restore_standby_lane(program.setup(context), seconds, 0, [packed_tasks(tasks)])
    return progress


def people_read(env: AppEnv, made: StreamApp) -> int:
    """How many records of the side input a run reads, to its end."""
    _, launch = env.launched(made)
    loop = env.loop(CurrentRun.of(launch, batch_rows=10_000), pause=lambda _: None)
    loop.start()
    read = sum(batch.read.get("people", 0) for batch in drain(loop))
    loop.release()
    return read


def names(rows: Sequence[Row]) -> dict[str, str]:
    return {row["user"]: row["name"] for row in rows}


def test_what_was_filled_is_not_read_again(env: AppEnv) -> None:
    env.write("people", inputs([person(number) for number in range(20)], "user"), 4)
    env.write("events", inputs([{"user": f"u{number}", "n": 1} for number in range(20)], "user"), 4)
    assert warmed_up(env, joined()) == RestoreProgress(restored=20)
    assert warmed_up(env, joined()) == RestoreProgress()
    env.write("people", inputs([person(3, "Eve")], "user"), 4)
    assert people_read(env, joined()) == 1
    assert names(env.rows("out")) == {f"u{n}": "Eve" if n == 3 else f"U{n}" for n in range(20)}


def test_time_that_is_over_leaves_records_for_later(env: AppEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamapp_runtime.lanes.batches.standby_lane.FILL_RECORDS", 8)
    env.write("events", inputs([{"user": "u1", "n": 1}], "user"), 4)
    env.write("people", inputs([person(number) for number in range(20)], "user"), 4)
    first = warmed_up(env, joined(), seconds=0.0)
    assert 0 < first.restored < 20
    assert first.left == 20 - first.restored
    assert warmed_up(env, joined()) == RestoreProgress(restored=first.left)


def test_partitions_of_a_stream_that_grew_fill_a_table_in_their_order(env: AppEnv) -> None:
    env.write("events", inputs([{"user": f"u{number}", "n": 1} for number in range(20)], "user"), 2)
    env.write("people", inputs([person(number, "old") for number in range(20)], "user"), 2)
    people_read(env, joined())
    env.grow("events", 4)
    env.grow("people", 4)
    env.write("people", inputs([person(number, "new") for number in range(20)], "user"), 4)
    lost = replace(env, home=replace(env.home, state=env.home.state.parent / "another"))
    assert warmed_up(lost, joined()).restored == 40
    env.write("events", inputs([{"user": f"u{number}", "n": 2} for number in range(20)], "user"), 4)
    assert people_read(lost, joined()) == 0
    assert {row["name"] for row in env.rows("out") if row["n"] == 2} == {"new"}


@pytest.mark.parametrize(
    "table",
    [{"broadcast": True}, {"store": "memory"}, {"sideInputs": [{"stream": "people", "bootstrap": False}]}],
    ids=["for all tasks", "in memory", "from now on"],
)
def test_tables_that_are_not_filled_early_are_left_to_the_lanes(
    env: AppEnv, table: Mapping[str, Any]
) -> None:
    env.write("events", inputs([{"user": "u1", "n": 1}], "user"), 4)
    env.write("people", inputs([person(1)], "user"), 4)
    assert warmed_up(env, joined(table=table)) == RestoreProgress()


def test_bad_records_are_set_aside_by_the_lane(env: AppEnv) -> None:
    made = joined(onBadRecord={"action": "deadLetter", "stream": "bad"})
    env.write("events", inputs([{"user": "u1", "n": 1}], "user"), 4)
    env.write("people", [*inputs([person(1)], "user"), Input("u2", "not JSON")], 4)
    assert warmed_up(env, made).restored == 2
    people_read(env, made)
    assert len(env.records("bad")) == 1


def test_a_record_that_ends_the_app_is_left_to_the_lane(env: AppEnv) -> None:
    env.write("events", inputs([{"user": "u1", "n": 1}], "user"), 4)
    env.write("people", [Input("u2", "not JSON")], 4)
    assert warmed_up(env, joined(onBadRecord={"action": "fail"})) == RestoreProgress()


@ON_SPARK
def test_tables_whose_rows_spark_evaluates_are_filled_too(
    env: AppEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = expression_folder(env.session)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(folder))  # what Spark tells the workers of this JVM
    side = BY_PEOPLE | {"value": "user, initcap(name) AS name, age"}
    env.write("events", inputs([{"user": "u1", "n": 1}], "user"), 4)
    env.write("people", inputs([person(1)], "user"), 4)
    assert warmed_up(env, joined(side)) == RestoreProgress(restored=1)
    assert people_read(env, joined(side)) == 0
    assert names(env.rows("out")) == {"u1": "U1"}
