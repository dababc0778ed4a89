"""What a page remembers, and how much memory that takes."""

import tracemalloc
from dataclasses import replace

from streamapp_runtime.driver.batches.retries import OutageNotice, OutagePhase
from streamapp_runtime.driver.page.page_recorder import MOST_BATCHES, MOST_NOTES, PageRecorder
from streamapp_runtime.driver.page.run_history import HISTORY_SECONDS, MOST_POINTS, POINT_SECONDS
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.engine.batch_results import batch
from tests.harness.engine.watched_pages import BEGAN, PageClock, WatchedRun, reports, running
from tests.harness.graphs.shop_apps import shop


def test_a_point_has_the_rates_since_the_one_before() -> None:
    run = WatchedRun()
    run.batches(batch(rows_in=100, rows_out=50, seconds=0.2, lags={"views": 9}), count=8, seconds=0.5)
    first, second = run.recorder.facts().history
    assert (first.at, second.at) == (BEGAN + 2, BEGAN + 4)
    assert (first.rows_in, first.rows_out, first.lag, first.batch_seconds) == (200, 100, 9, 0.2)


def test_an_idle_run_has_points_without_batches() -> None:
    run = WatchedRun()
    for _ in range(100):
        run.clock.seconds += 0.05
        run.recorder.idle()
    points = run.recorder.facts().history
    assert len(points) == 2
    assert [(point.rows_in, point.batch_seconds) for point in points] == [(0, None), (0, None)]


def test_a_long_batch_is_one_point_over_all_of_its_time() -> None:
    run = WatchedRun()
    run.batches(batch(rows_in=1000), count=1, seconds=20)
    (point,) = run.recorder.facts().history
    assert point.rows_in == 50


def test_the_history_has_15_minutes_and_no_more() -> None:
    run = WatchedRun()
    run.batches(batch(), count=1000, seconds=POINT_SECONDS)
    points = run.recorder.facts().history
    assert len(points) == MOST_POINTS
    assert points[-1].at - points[0].at <= HISTORY_SECONDS
    run.clock.seconds += 2 * HISTORY_SECONDS
    run.recorder.idle()
    assert len(run.recorder.facts().history) == 1


def test_a_clock_that_jumps_back_stops_nothing() -> None:
    clock, wall = PageClock(), PageClock()
    recorder = PageRecorder(clock, wall)
    for _ in range(5):
        clock.seconds += 2
        wall.seconds -= 100
        recorder.batch(batch(rows_in=10))
    assert [point.rows_in for point in recorder.facts().history] == [5] * 5


def test_memory_is_bounded_however_long_a_run_is() -> None:
    app = running(shop(60), tasks=1000, processors=100)
    of_tasks = reports(app)
    streams = dict.fromkeys(app.plan.streams, 100)
    run = WatchedRun()
    run.recorder.runs(app)

    def hours(count: int) -> None:
        for number in range(count):
            run.batches(replace(batch(number, given=streams, lags=streams), reports=of_tasks), count=1)
            run.recorder.trouble(f"unavailable: {number} {'x' * 5000}")
            run.recorder.batch(replace(batch(bad=1), rejected={("views", f"reason {number}"): 1}))

    hours(500)
    tracemalloc.start()
    hours(1)  # what the tracing itself allocates
    before, _ = tracemalloc.get_traced_memory()
    hours(500)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 600_000
    facts = run.recorder.facts()
    assert (len(facts.batches), len(facts.notes)) == (MOST_BATCHES, MOST_NOTES)
    assert len(facts.rejected) <= 21


def test_the_same_trouble_again_is_one_note_with_its_last_time() -> None:
    run = WatchedRun()
    for _ in range(3):
        run.clock.seconds += 1
        run.recorder.trouble("unavailable: no answer")
    (note,) = run.recorder.facts().notes
    assert note.at == BEGAN + 3


def test_an_outage_is_a_note_as_it_begins_and_one_as_it_ends() -> None:
    run = WatchedRun()
    why = "processor-0 is in views: 10.0.0.1:9092 does not answer"
    for phase in OutagePhase:
        run.recorder.outage(OutageNotice(phase, why, 4.0, 2, of_batch=phase is OutagePhase.GOES_ON))
    began, ended = [note.text for note in run.recorder.facts().notes]
    assert began.endswith(why)
    assert ended == "the streams' system answers again after 4.0 s; 2 batches failed meanwhile"


def test_what_is_done_again_counts_once() -> None:
    run = WatchedRun()
    for status in (TaskStatus.COMMITTED, TaskStatus.UNAVAILABLE):
        report = TaskReport("a", status, counted=(("lateRows", "counted", 2), ("remoteAsked", "prices", 4)))
        run.recorder.batch(replace(batch(), reports=(report,)))
    facts = run.recorder.facts()
    assert facts.late == {"counted": 2}
    assert facts.remote["prices"].asked == 4
