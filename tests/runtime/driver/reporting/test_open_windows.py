"""The windows that a run leaves open are held against the watermarks by which their rows go out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.reporting.open_windows import open_windows
from streamapp_runtime.driver.reporting.run_messages import open_windows_message
from tests.harness.runs.app_runs import Row, app, write_all
from tests.harness.runs.in_process_run import InProcessRun
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent

ROWS = [at(second) for second in (1, 12, 22)]  # of one user, and so of one partition of two


@pytest.fixture
def run(tmp_path: Path) -> Iterator[InProcessRun]:
    run = InProcessRun(counting_by_user(), tmp_path)
    run.system.create("events", 2)
    yield run
    run.end()
    run.system.close()


def counting_by_user() -> StreamApp:
    streams = [events(), {"name": "out", "key": "user"}]
    return app(counting("events"), sent("counted"), streams=streams, config=NOW)


def counting_by_page() -> StreamApp:
    by_page = {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 1}}
    streams = [events(), {"name": "out", "key": "page"}]
    return app(by_page, counting("by-page"), sent("counted"), streams=streams, config=NOW)


def read_all(run: InProcessRun, rows: Sequence[Row] = ROWS) -> None:
    run.start()
    for row in rows:
        write_all(run.system, "events", inputs([row]), 2)
        run.advance(1)


def left_open(run: InProcessRun) -> list[str]:
    run.loop.release()
    messages = open_windows(run.loop.launch, run.loop.planner.reached)
    return [open_windows_message(one).text for one in messages]


def test_behind_a_repartition_nothing_goes_out_while_a_partition_has_given_no_record(
    run: InProcessRun,
) -> None:
    run.app = counting_by_page()
    read_all(run)
    assert run.loop.planner.reached.streams == {}
    assert left_open(run) == [
        "counted: 3 windows stay open; the first goes out once the watermark passes 2026-01-01 00:00:10,"
        " and there is none yet"
    ]


def test_without_one_each_task_goes_by_its_own_records(run: InProcessRun) -> None:
    read_all(run)
    assert left_open(run) == [BY_OWN_RECORDS]


def test_after_a_restart_without_records_the_same_windows_are_open(run: InProcessRun) -> None:
    read_all(run)
    run.loop.release()
    run.start()
    run.advance(1)
    assert left_open(run) == [BY_OWN_RECORDS]


@pytest.mark.parametrize("lateness", ["0s", "1h"])
def test_sessions_are_counted_that_have_not_gone_out_to_their_present_ends(
    run: InProcessRun, lateness: str
) -> None:
    window = {"session": {"gap": "8s"}}
    streams = [events("9s"), {"name": "out", "key": "user"}]
    counted = counting("events", window=window, allowedLateness=lateness)
    run.app = app(counted, sent("counted"), streams=streams, config=NOW)
    read_all(run, [*ROWS, at(23), at(40)])  # at 31 the first two sessions are out
    assert left_open(run) == [
        "counted: 2 windows stay open; the first goes out once the watermark passes 2026-01-01 00:00:31,"
        " and it is at 2026-01-01 00:00:31"
    ]


BY_OWN_RECORDS = (
    "counted: 1 window stays open; the first goes out once the watermark passes 2026-01-01 00:00:30,"
    " and it is at 2026-01-01 00:00:22"
)
