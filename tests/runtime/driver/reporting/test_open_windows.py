"""The windows that a run leaves open are held against the watermarks by which their rows go out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.reporting.open_windows import open_windows
from streamapp_runtime.driver.reporting.run_messages import open_windows_message
from tests.harness.runs.app_runs import app, write_all
from tests.harness.runs.in_process_run import InProcessRun
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent

ROWS = [at(second) for second in (1, 12, 22)]  # of one user, and so of one partition of two


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path


def left_open(resource: StreamApp, folder: Path) -> list[str]:
    run = InProcessRun(resource, folder)
    run.system.create("events", 2)
    run.start()
    write_all(run.system, "events", inputs(ROWS), 2)
    for _ in range(3):
        run.advance(1)
    run.loop.release()
    messages = open_windows(run.loop.launch, run.loop.planner.timers.task_watermarks)
    run.end()
    run.system.close()
    return [open_windows_message(one).text for one in messages]


def test_behind_a_repartition_nothing_goes_out_while_a_partition_has_given_no_record(folder: Path) -> None:
    by_page = {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 1}}
    streams = [events(), {"name": "out", "key": "page"}]
    made = app(by_page, counting("by-page"), sent("counted"), streams=streams, config=NOW)
    assert left_open(made, folder) == [
        "counted: 3 windows stay open; the first goes out once the watermark passes 2026-01-01 00:00:10,"
        " and there is none yet"
    ]


def test_without_one_each_task_goes_by_its_own_records(folder: Path) -> None:
    streams = [events(), {"name": "out", "key": "user"}]
    assert left_open(app(counting("events"), sent("counted"), streams=streams, config=NOW), folder) == [
        "counted: 1 window stays open; the first goes out once the watermark passes 2026-01-01 00:00:30,"
        " and it is at 2026-01-01 00:00:22"
    ]
