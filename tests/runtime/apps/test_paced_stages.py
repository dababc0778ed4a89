"""An app of two stages: inputs wait for their latency, and rows between the stages do not."""

from dataclasses import replace

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from tests.harness.runs.app_runs import AppEnv, Row, app, inputs
from tests.harness.runs.drained_loop import drain

LATENCY_SECONDS = 300.0  # longer than any test
TWO_STAGES = app(
    {"name": "again", "partitionBy": {"from": "events", "key": "user"}},
    {"name": "sent", "sendTo": {"from": "again", "stream": "out"}},
    streams=[{"name": "events", "columns": "user STRING, n INT"}, {"name": "out"}],
)
MOST_LOOKS = 20


def rows(*numbers: int) -> list[Row]:
    return [{"user": f"u{n}", "n": n} for n in numbers]


def until_inputs_are_read(loop: Loop) -> BatchResult:
    while True:
        batch = loop.step()
        if batch is not None and "events" in batch.read:
            return batch


def test_rows_pass_through_all_stages_at_once_and_inputs_that_came_meanwhile_wait(env: AppEnv) -> None:
    env.write("events", inputs(rows(1, 2, 3), "user"))
    _, launch = env.launched(TWO_STAGES)
    run = CurrentRun.of(launch)
    run.settings = replace(run.settings, batch_latency=LATENCY_SECONDS)
    loop = env.loop(run, pause=lambda _: None)
    loop.start()
    assert set(until_inputs_are_read(loop).read) == {"events"}
    env.write("events", inputs(rows(4, 5), "user"))
    assert loop.planner.rest_seconds == 0, "what was written between the stages is there to be read"
    batches = [batch for _ in range(MOST_LOOKS) if (batch := loop.step())]
    assert [set(batch.read) for batch in batches if batch.read] == [{"test.app.again"}]
    assert env.rows("out") == rows(1, 2, 3)
    rests: list[float] = []
    loop.planner.await_input(rests.append, None)
    assert rests, "two records wait"
    run.settings = replace(run.settings, batch_latency=0.0)
    drain(loop)
    assert env.rows("out") == rows(1, 2, 3, 4, 5)
    loop.release()
