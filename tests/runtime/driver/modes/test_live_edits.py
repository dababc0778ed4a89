"""Each field that needs no restart has its effect on a loop that runs, from the next batch on."""

import time
from typing import Any

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.inputs.batch_pacing import LONGEST_LOOK_SECONDS
from streamapp_runtime.driver.modes.live_edit import apply_edit, is_live
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.chained_app import chained, everything_once_and_in_order, numbered
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.timed_streams import at, counting, events, sent
from tests.harness.runs.timed_streams import inputs as timed

LONG = "1h"


def passing(**spec: Any) -> StreamApp:
    streams = [{"name": "lines", "columns": "text STRING"}, {"name": "copied"}]
    return app({"name": "out", "sendTo": {"from": "lines", "stream": "copied"}}, streams=streams, **spec)


def begun(env: AppEnv, made: StreamApp, processors: int = 1) -> Loop:
    _, ready = env.launched(made, processors)
    loop = env.loop(CurrentRun.of(ready, batch_rows=made.spec.batch.rows), pause=lambda _: None)
    loop.start()
    return loop


def read(loop: Loop) -> int:
    """How many records the next batch reads."""
    batch = loop.step()
    return batch.rows_in if batch is not None else 0


def lines(env: AppEnv, count: int, size: int = 10) -> None:
    env.write("lines", inputs([{"text": "x" * size}] * count), partitions=1)


def test_a_batch_has_as_many_rows_as_the_edit_allows(env: AppEnv) -> None:
    lines(env, 1)
    loop = begun(env, passing())
    drain(loop)
    lines(env, 10)
    apply_edit(loop, passing(batch={"rows": 4, "latency": "0s"}))
    assert [read(loop), read(loop), read(loop)] == [4, 4, 2]


def test_a_batch_has_as_many_bytes_as_the_edit_allows(env: AppEnv) -> None:
    lines(env, 4, size=1_000)
    loop = begun(env, passing())
    drain(loop)
    lines(env, 8, size=1_000)
    apply_edit(loop, passing(batch={"bytes": 4_096, "latency": "0s"}))
    assert read(loop) == 4


def test_batches_are_as_far_apart_as_the_edit_says(env: AppEnv) -> None:
    lines(env, 1)
    loop = begun(env, passing())
    drain(loop)
    lines(env, 1)
    apply_edit(loop, passing(batch={"interval": LONG}))
    assert read(loop) == 0
    apply_edit(loop, passing(batch={"interval": "0s", "latency": "0s"}))
    assert read(loop) == 1


def test_records_wait_for_more_as_long_as_the_edit_says(env: AppEnv) -> None:
    lines(env, 1)
    loop = begun(env, passing())
    drain(loop)
    lines(env, 1)
    apply_edit(loop, passing(batch={"latency": LONG}))
    assert read(loop) == 0
    assert loop.planner.rest_seconds == loop.planner.look_seconds == LONGEST_LOOK_SECONDS
    apply_edit(loop, passing(batch={"latency": "0s"}))
    assert loop.planner.rest_seconds == 0
    assert read(loop) == 1


def test_records_that_a_batch_leaves_behind_do_not_wait(env: AppEnv) -> None:
    lines(env, 10)
    loop = begun(env, passing())
    apply_edit(loop, passing(batch={"latency": LONG, "rows": 4}))
    assert [rows for _ in range(6) if (rows := read(loop))] == [4, 4, 2]
    lines(env, 1)
    assert read(loop) == 0


def test_records_on_their_way_through_the_app_do_not_wait(env: AppEnv) -> None:
    def moved(**spec: Any) -> StreamApp:
        streams = [{"name": "lines", "columns": "text STRING"}, {"name": "copied"}]
        by_text = {"name": "by-text", "partitionBy": {"from": "lines", "key": "text"}}
        return app(
            by_text,
            {"name": "out", "sendTo": {"from": "by-text", "stream": "copied"}},
            streams=streams,
            **spec,
        )

    lines(env, 5)
    loop = begun(env, moved())
    apply_edit(loop, moved(batch={"latency": LONG}))
    assert [rows for _ in range(4) if (rows := read(loop))] == [5, 5]
    lines(env, 5)
    assert read(loop) == 0


def test_the_tasks_of_a_lost_executor_wait_as_long_as_the_edit_says(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 1), "user"), 2)
    loop = begun(env, chained(rebalanceDelay=LONG), processors=2)
    left = {"processor-0"}
    assert sum(map(len, loop.lanes.supervisor.assignment.lanes(left).values())) == 1
    apply_edit(loop, chained(rebalanceDelay="0s"))
    assert sum(map(len, loop.lanes.supervisor.assignment.lanes(left).values())) == 2


def test_executors_are_waited_for_as_long_as_the_edit_says(env: AppEnv) -> None:
    lines(env, 1)
    loop = begun(env, passing())
    apply_edit(loop, passing(executor={"startTimeout": "7s"}))
    assert loop.lanes.supervisor.run.settings.executor_start == 7.0


@pytest.mark.usefixtures("process")
def test_a_new_partition_opens_when_the_edit_says_that_producers_have_settled(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 2), "user"), 2)
    run = Run.start(env, chained(partitionSettle=LONG))
    run.to_the_end()
    env.system.grow("events", 4)
    env.write("events", inputs(numbered(2, 4), "user"), 4)
    assert run.review()
    run.steps(5)
    assert len(env.rows("out")) < len(numbered(0, 4))
    apply_edit(run.loop, chained(partitionSettle="0s"))
    run.to_the_end()
    everything_once_and_in_order(env, 4)


@pytest.mark.usefixtures("process")
def test_watermarks_are_written_as_often_as_the_edit_says(env: AppEnv) -> None:
    def windows(milliseconds: int) -> StreamApp:
        return app(
            {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 2}},
            counting("by-page", key="page"),
            sent("counted"),
            streams=[events(), {"name": "out", "key": "page"}],
            config={"job.control.interval": str(milliseconds)},
        )

    env.write("events", timed([at(1)]), partitions=1)
    loop = begun(env, windows(3_600_000))
    _idle(loop)
    env.write("events", timed([at(15)]), partitions=1)
    _idle(loop)
    assert env.records("out") == []
    apply_edit(loop, windows(0))
    env.write("events", timed([at(16)]), partitions=1)
    _idle(loop)
    assert [row["rows"] for row in env.rows("out")] == [1]


def _idle(loop: Loop) -> None:
    """Until nothing is left to read; a watermark that waits for its time is left waiting."""
    for _ in range(30):
        if loop.step() is None:
            if not loop.backlog.pending(loop.backlog.positions()):
                return
            # An edit has given the app a latency, for which inputs wait.
            time.sleep(loop.planner.look_seconds)
    raise AssertionError("the app does not come to rest")


@pytest.mark.parametrize(
    ("edit", "live"),
    [
        ({"batch": {"rows": 5}}, True),
        ({"processors": 3}, True),
        ({"onDataLoss": "earliest"}, False),
        ({"applicationId": "another"}, False),
    ],
)
def test_an_edit_is_taken_up_if_all_of_it_needs_no_restart(edit: dict[str, Any], live: bool) -> None:
    assert is_live(passing(), passing(**edit)) is live
