"""The page of an app one of whose streams has stopped, told by a real loop."""

import time

from streamapp_runtime.driver.page.app_snapshot import app_snapshot
from streamapp_runtime.driver.page.page_recorder import PageRecorder
from tests.harness.runs.app_runs import AppEnv, app
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent


def test_the_stream_that_has_stopped_is_named_while_windows_wait_for_it(env: AppEnv) -> None:
    stopped = {**events(), "name": "stopped"}
    both = {"name": "both", "merge": {"from": ["events", "stopped"]}}
    operators = (both, counting("both"), sent("counted"))
    streams = [events(), stopped, {"name": "out", "key": "user"}]
    env.write("events", inputs([at(0), at(5)]), 1)
    env.write("stopped", inputs([at(1), at(6)]), 1)
    run = Run.start(env, app(*operators, streams=streams, config=NOW))
    page = PageRecorder(time.monotonic, time.time)
    page.launched(run.loop.launch)

    def waits() -> object:
        while (batch := run.loop.step()) is not None:
            page.batch(batch)
        return app_snapshot(page.facts())["waits"]

    assert waits() == []
    env.write("events", inputs([at(900)]), 1)
    (sentence,) = waits()
    assert sentence.startswith(
        "stopped holds back the watermark of both, counted, counted-sent: it stands at 2026-01-01 00:00:0"
    )
    assert "14 minutes behind events" in sentence
    env.write("stopped", inputs([at(890)]), 1)
    assert waits() == []
    run.loop.release()
