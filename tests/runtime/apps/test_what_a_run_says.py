"""The first lines of a run name what it reads and writes, the last ones what it leaves waiting."""

import re
import subprocess

import pytest

from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.reporting.open_windows import open_windows
from tests.harness.runs.app_runs import AppEnv, Input, app
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent


@pytest.mark.usefixtures("process")
def test_a_run_says_its_streams_with_the_counts_of_today_and_which_windows_it_leaves_open(
    env: AppEnv,
) -> None:
    session = {"session": {"gap": "10s"}}
    made = app(
        counting("events"),
        sent("counted"),
        counting("events", name="visits", window=session),
        sent("visits"),
        counting("events", name="updated", emit="onUpdate"),
        sent("updated"),
        streams=[events(), {"name": "out", "key": "user"}, {"name": "letters"}, {"name": "late"}],
        onBadRecord={"action": "deadLetter", "stream": "letters"},
        lateRows={"action": "stream", "stream": "late"},
        config=NOW,
    )
    rows = [at(n, user) for n in (1, 12, 13) for user in ("ann", "bob")]
    broken = Input("ann", b'{"user": "ann", "n": "many"}')
    env.write("events", [broken, *inputs(rows), broken], partitions=1)
    env.system.create("out", 3)
    command = env.command(made, "--until-end")
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    first, *lines = run.stderr.splitlines()
    assert first == "test.app: 1 task on 1 processor"
    assert lines[:2] == [
        "  reads events (1); writes out (3)",
        "  bad records to letters (1); late rows to late (1)",
    ]
    stands = "and it is at 2026-01-01 00:00:13"
    passes = "2 windows stay open; the first goes out once the watermark passes 2026-01-01 00:00"
    assert lines[-3:-1] == [
        f"counted: {passes}:20, {stands}",
        f"visits: {passes}:23, {stands}",
    ]
    assert lines[-1].startswith("8 rows in, ")
    left_out = r", 2 records left out: 2 of events: n: found [^;(]+ \(the app's page shows where they are\)$"
    assert re.search(left_out, lines[-1])


def test_a_batch_app_leaves_no_window_open(env: AppEnv) -> None:
    streams = [events(), {"name": "out", "key": "user"}]
    made = app(counting("events"), sent("counted"), streams=streams, mode="batch")
    env.write("events", inputs([at(1), at(12)]), partitions=1)
    _, ready = env.launched(made)
    loop = env.loop(CurrentRun.of(ready))
    loop.start()
    while not loop.planner.ended:
        loop.step()
    loop.release()
    assert open_windows(loop.launch, loop.planner.reached) == ()
