"""Apps that are planned and cannot run: told with their paths, before anything is started."""

from typing import Any

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from tests.harness.runs.app_runs import AppEnv, Row, app

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
SENT = {"name": "sent", "sendTo": {"from": "events", "stream": "out"}}
CODE = "tests.harness.user_code.graph_code"


def refused(env: AppEnv, made: StreamApp) -> dict[str, str]:
    """The message of each path."""
    env.system.create("events", 2)
    with pytest.raises(AppRefusedError) as caught:
        env.launched(made)
    return {problem.path: problem.message for problem in caught.value.problems}


def whole(*operators: Row, tables: Any = (), **spec: Any) -> StreamApp:
    return app(*operators, SENT, streams=[EVENTS, {"name": "out"}], tables=tables, **spec)


def test_every_field_that_cannot_be_honoured_is_told_at_once(env: AppEnv) -> None:
    found = refused(env, whole(placement={"standbys": 1}))
    assert set(found) == {"spec.placement.standbys"}
    assert all(message.startswith("not yet supported: ") for message in found.values())


def test_a_window_that_waits_for_a_watermark_is_refused_where_it_stands(env: AppEnv) -> None:
    windowed = {"from": "events", "aggregates": "count(*) AS c", "window": {"tumbling": {"size": "1m"}}}
    found = refused(env, whole({"name": "windowed", "aggregate": windowed}))
    assert list(found) == ["spec.operators[0].aggregate"]
    assert "watermark" in found["spec.operators[0].aggregate"]


def test_a_function_that_is_not_there_is_refused_where_it_is_named(env: AppEnv) -> None:
    mapped = {"from": "events", "python": f"{CODE}:absent", "columns": "user STRING"}
    found = refused(env, whole({"name": "mapped", "map": mapped}))
    assert "has no attribute 'absent'" in found["spec.operators[0].map"]


def test_a_format_that_cannot_carry_the_columns_is_refused_at_its_stream(env: AppEnv) -> None:
    made = app(SENT, streams=[EVENTS, {"name": "out", "format": "string"}])
    assert list(refused(env, made)) == ["spec.operators[0].sendTo.stream"]


def test_an_operator_whose_state_would_lie_with_a_tables_is_refused(env: AppEnv) -> None:
    counted = {"name": "kept", "aggregate": {"from": "events", "aggregates": "count(*) AS c"}}
    filled = {"name": "filled", "sendToTable": {"from": "events", "table": "kept"}}
    assert list(refused(env, whole(counted, filled, tables=[{"name": "kept"}]))) == ["spec.operators[0].name"]


def test_a_dead_letter_stream_that_the_app_reads_is_refused(env: AppEnv) -> None:
    found = refused(env, whole(onBadRecord={"action": "deadLetter", "stream": "events"}))
    assert list(found) == ["spec.onBadRecord.stream"]


def test_versions_that_joins_are_to_see_within_their_batch_are_refused(env: AppEnv) -> None:
    """Whatever keeps the table: versions take each other's place between batches."""
    side = {"stream": "events", "versions": "nullKey"}
    table = {"name": "kept", "sideInputs": [side], "visibility": "sameBatch"}
    for more in ({}, {"broadcast": True}, {"store": "memory"}):
        found = refused(env, whole(tables=[table | more]))
        assert list(found) == ["spec.tables[0].visibility"]
        assert "between batches" in found["spec.tables[0].visibility"]
