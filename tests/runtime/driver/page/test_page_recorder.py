"""What a page remembers, and how much memory that takes."""

import tracemalloc
from dataclasses import replace

from streamapp_runtime.driver.batches.retries import OutageNotice, OutagePhase
from streamapp_runtime.driver.page.app_snapshot import stream_history
from streamapp_runtime.driver.page.page_recorder import MOST_BATCHES, MOST_NOTES, PageRecorder
from streamapp_runtime.driver.page.run_history import HISTORY_SECONDS, MOST_POINTS, POINT_SECONDS
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.engine.batch_results import batch
from tests.harness.engine.watched_pages import BEGAN, PageClock, WatchedRun, reports, running
from tests.harness.graphs.graph_drawing import drawn, maps, reads, sends
from tests.harness.graphs.shop_apps import shop


def test_a_point_has_the_rates_since_the_one_before() -> None:
    run = WatchedRun()
    run.batches(batch(rows_in=100, rows_out=50, seconds=0.2, lags={"views": 9}), count=8, seconds=0.5)
    first, second = run.recorder.facts().history
    assert (first.at, second.at) == (BEGAN + 2, BEGAN + 4)
    assert (first.rows_in, first.rows_out, first.lag, first.batch_seconds) == (200, 100, 9, 0.2)


def test_a_point_has_the_delay_of_the_lowest_watermark_and_none_without_event_times() -> None:
    run = WatchedRun()
    run.batches(batch(), count=1, seconds=2)
    run.batches(
        batch(watermarks={"views": int(BEGAN * 1000), "users": int(BEGAN * 1000) + 900}), count=1, seconds=2
    )
    run.clock.seconds += 3
    run.recorder.idle()
    assert [point.behind for point in run.recorder.facts().history] == [None, 4, 7]
    assert [point.columns()["behind"] for point in run.recorder.facts().history] == [None, 4, 7]


def test_a_point_has_the_longest_latency_and_the_memory_of_all_workers() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(5)))
    for latency, memory in ((300, 70), (900, 80)):
        counted = [("latencyMs", "views", latency), ("memoryBytes", "", memory)]
        run.batches(batch(counted=counted), count=1, seconds=1)
    run.batches(batch(), count=1, seconds=2)
    first, second = run.recorder.facts().history
    assert (first.latency, second.latency) == (0.9, None)
    assert first.worker_memory == second.worker_memory == 80
    assert first.driver_memory > 2**20


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
        recorder.batch_committed(batch(rows_in=10))
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
            run.recorder.batch_failed(f"unavailable: {number} {'x' * 5000}")
            run.recorder.batch_committed(replace(batch(bad=1), rejected={("views", f"reason {number}"): 1}))

    hours(500)
    tracemalloc.start()
    hours(1)  # what the tracing itself allocates
    before, _ = tracemalloc.get_traced_memory()
    hours(500)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 650_000
    facts = run.recorder.facts()
    assert (len(facts.batches), len(facts.notes)) == (MOST_BATCHES, MOST_NOTES)
    assert len(facts.left_out.rejected) <= 21


def test_each_stream_has_a_history_of_its_own() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(3)))
    counted = [("rowsOut", "enriched", 40)]
    run.batches(batch(given={"views": 100}, lags={"views": 7}, counted=counted), count=10)
    run.batches(batch(given={"views": 20}, lags={"views": 9}), count=10)
    views = stream_history(run.recorder.facts(), "views")
    enriched = stream_history(run.recorder.facts(), "enriched")
    assert views is not None
    assert enriched is not None
    assert views["at"] == [BEGAN + 2 * number for number in range(1, 21)]
    assert views["rowsIn"] == [50.0] * 10 + [42.0, 34.0, 26.0, 18.0] + [10.0] * 6
    assert views["lag"] == [7] * 10 + [9] * 10
    assert set(views["rowsOut"]) == {None}
    assert (enriched["rowsOut"][9], enriched["rowsOut"][-1], set(enriched["rowsIn"])) == (20.0, 0.0, {None})


def test_a_stream_of_a_later_model_has_no_figures_from_before_it() -> None:
    run = WatchedRun()
    later = running(drawn(reads("orders"), maps("seen", "orders"), sends("out", "seen", "done")))
    run.recorder.runs(running(shop(3)))
    run.batches(batch(given={"views": 100}), count=2)
    run.recorder.runs(later)
    run.batches(batch(given={"orders": 10}), count=2)
    orders = stream_history(run.recorder.facts(), "orders")
    assert orders is not None
    assert [lag is None for lag in orders["lag"]] == [True, True, False, False]
    assert stream_history(run.recorder.facts(), "views") is None


def test_the_history_of_hundreds_of_streams_takes_a_few_bytes_for_each_figure() -> None:
    names = [f"stream-{number}" for number in range(300)]
    pieces = [piece for name in names for piece in (reads(name), maps(f"seen-{name}", name))]
    run = WatchedRun()
    run.recorder.runs(running(drawn(*pieces), tasks=10))
    one = batch(given=dict.fromkeys(names, 100), lags=dict.fromkeys(names, 5))
    run.batches(one, count=10)
    tracemalloc.start()
    run.batches(one, count=MOST_POINTS)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(run.recorder.facts().history) == MOST_POINTS
    assert size < 2_500_000


def test_the_same_trouble_again_is_one_note_with_its_last_time() -> None:
    run = WatchedRun()
    for _ in range(3):
        run.clock.seconds += 1
        run.recorder.batch_failed("unavailable: no answer")
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
        run.recorder.batch_committed(replace(batch(), reports=(report,)))
    facts = run.recorder.facts()
    assert facts.left_out.late == {"counted": 2}
    assert facts.remote["prices"].asked == 4
