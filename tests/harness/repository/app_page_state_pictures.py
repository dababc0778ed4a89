"""Pictures of the page of an app, for the documentation: each state and some faults, with made-up figures.

`python -m tests.harness.repository.app_page_state_pictures` takes them.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Final

from playwright.sync_api import Page, expect

from streamapp.graph.graph_builder import build_graph
from streamapp.spec.parser import parse
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.failures import PROCESS_LOSS_SIGNS
from streamapp_runtime.driver.page.running_app import RunningApp
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.engine.batch_results import batch, reached
from tests.harness.engine.watched_pages import WatchedRun, page_served, reports, running
from tests.harness.repository.page_pictures import take_pictures

APP: Final = """\
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: paid-orders, namespace: shop}
spec:
  systems:
    - {name: main, kafka: {bootstrapServers: "kafka:9092"}}
  streams:
    - name: orders
      system: main
      key: id
      columns: "id STRING, product STRING, ts TIMESTAMP"
      eventTime: {column: ts}
    - name: payments
      system: main
      key: id
      columns: "id STRING, cents INT, ts TIMESTAMP"
      eventTime: {column: ts}
    - {name: paid, system: main, key: id}
  tables:
    - {name: stock, columns: "shelf STRING", remote: {python: "shop.stock:Stock"}}
  operators:
    - {name: matched, join: {from: [orders, payments], within: 10m}}
    - {name: located, joinTable: {from: matched, table: stock, key: product, type: left}}
    - {name: out, sendTo: {from: located, stream: paid}}
"""
TASKS: Final = 4
STREAMS: Final = ("orders", "payments")
HEIGHT: Final = 980
"""A window: what wants attention stands at the bottom of it."""
STATE_HEIGHT: Final = 190
RATE: Final = 1_200
"""Records of each stream in a batch."""

Plant = Callable[["TroubledRun"], None]


LEVELS: Final = (("latencyMs", "orders", 420), ("memoryBytes", "", 310_000_000))
"""The levels that each lane reports beside its counters."""


@dataclass(slots=True)
class TroubledRun:
    """A run with batches as usual, and then with others."""

    app: RunningApp
    usual: BatchResult
    run: WatchedRun = field(default_factory=WatchedRun)
    number: int = 0

    def batches(
        self, count: int, change: Callable[[BatchResult, int], BatchResult] = lambda one, _: one
    ) -> None:
        """So many batches, each the usual one with a change; the watermarks move with the clock."""
        for place in range(count):
            self.number += 1
            now = int((self.run.clock.seconds - 1.5) * 1000)
            usual = replace(self.usual, number=self.number, reached=reached(dict.fromkeys(STREAMS, now)))
            self.run.batches(change(usual, place), 1)


def stuck_stream(run: TroubledRun) -> None:
    """Payments do not come any more, and the join waits for them."""
    stands = int(run.run.clock.seconds * 1000)

    def without_payments(one: BatchResult, _: int) -> BatchResult:
        watermarks = {**one.watermarks, "payments": stands}
        reported = tuple(replace(each, rows_in=RATE // TASKS, counted=LEVELS) for each in one.reports)
        return replace(
            one,
            rows_in=RATE,
            rows_out=0,
            read={"orders": RATE},
            lags={"orders": 24},
            reached=reached(watermarks),
            reports=reported,
        )

    run.batches(400, without_payments)


def skewed_key(run: TroubledRun) -> None:
    """Most orders have one key, so one task has most of what is not yet read."""

    def behind(one: BatchResult, place: int) -> BatchResult:
        lags = {**one.task_lags, "Partition 2": 400 * place}
        return replace(one, lags={"orders": 400 * place + 36, "payments": 12}, task_lags=lags)

    run.batches(120, behind)


def unavailable_table(run: TroubledRun) -> None:
    """The remote table does not answer, and rows wait for it."""
    reported = tuple(
        replace(one, message='remote table "stock" is unavailable: the service is down')
        for one in reports(run.app, TaskStatus.WAITING)
    )

    def waiting(one: BatchResult, place: int) -> BatchResult:
        return replace(_lagging(one, place, TASKS), rows_in=0, rows_out=0, read={}, reports=reported)

    run.batches(40, waiting)
    run.run.recorder.step_started("waits for a remote table: the service is down", None)


def lost_process(run: TroubledRun) -> None:
    """A processor is gone, and its tasks wait until it is back."""
    gone = run.app.lanes["processor-1"]
    run.run.recorder.batch_failed(f"a process was lost ({PROCESS_LOSS_SIGNS[0]})")
    run.run.recorder.lacks(["processor-1"])
    left = tuple(one for one in run.usual.reports if one.task not in gone)

    def without_them(one: BatchResult, place: int) -> BatchResult:
        halved = replace(one, rows_in=RATE, rows_out=RATE // 2, read=dict.fromkeys(STREAMS, RATE // 2))
        return replace(_lagging(halved, place, len(gone)), reports=left)

    run.batches(8, without_them)


def wrong_schema(run: TroubledRun) -> None:
    """A producer of payments writes amounts as texts, which are left out."""
    reason = ("payments", 'column "cents" is INT, and the value is a text')

    def left_out(one: BatchResult, _: int) -> BatchResult:
        return replace(one, rows_out=RATE // 2, rejected={reason: RATE // 2})

    run.batches(60, left_out)


def _lagging(one: BatchResult, place: int, tasks: int) -> BatchResult:
    """A batch when the last tasks have read nothing for so many batches."""
    each = 2 * RATE // TASKS * place
    late = {f"Partition {task}": each for task in range(1, TASKS, TASKS // tasks)}
    late |= {"Partition 0": each} if tasks == TASKS else {}
    lag = each * tasks // 2
    return replace(one, lags=dict.fromkeys(STREAMS, lag), task_lags={**one.task_lags, **late})


FAULTS: Final[dict[str, tuple[Plant, str]]] = {
    "stuck-stream": (stuck_stream, "plan"),
    "skewed-key": (skewed_key, "processors"),
    "unavailable-table": (unavailable_table, "processors"),
    "lost-process": (lost_process, "processors"),
    "wrong-schema": (wrong_schema, "left-out"),
}
"""What is planted, and the section that shows it, beside what wants attention where that is said there."""


def run_in_trouble(plant: Plant) -> WatchedRun:
    """Some minutes of batches as usual, and then the fault."""
    (parsed,) = parse(APP).apps
    graph = build_graph(parsed, dict.fromkeys((*STREAMS, "paid"), TASKS))
    app = replace(running(graph, TASKS, 2), name=parsed.application_id)
    counted = (
        ("rowsOut", "paid", RATE // TASKS),
        ("remoteAsked", "stock", 60),
        ("remoteCached", "stock", 240),
        *LEVELS,
    )
    steps = (("read", 0.03), ("matched", 0.07), ("located", 0.05), ("commit", 0.06))
    usual = replace(
        batch(rows_in=2 * RATE, rows_out=RATE, given=dict.fromkeys(STREAMS, RATE)),
        lags=dict.fromkeys(STREAMS, 24),
        task_lags={f"Partition {task}": 12 for task in range(TASKS)},
        reports=tuple(
            replace(one, rows_in=2 * RATE // TASKS, counted=counted, steps=steps) for one in reports(app)
        ),
    )
    troubled = TroubledRun(app, usual)
    troubled.run.recorder.runs(app)
    troubled.batches(150)
    troubled.run.recorder.step_started("looks for records", 0)
    plant(troubled)
    return troubled.run


def as_usual(run: TroubledRun) -> None:
    """Nothing is wrong."""


def restoring_tasks(run: TroubledRun) -> None:
    """Two tasks have come to another processor, and their stores are brought back."""
    run.batches(3, lambda one, place: replace(_lagging(one, place, 2), reports=_with_two_restoring(one)))
    run.run.recorder.step_started("runs batch 153", 0)


def _with_two_restoring(one: BatchResult) -> tuple[TaskReport, ...]:
    return tuple(
        replace(report, status=TaskStatus.RESTORING)
        if report.task in ("Partition 1", "Partition 3")
        else report
        for report in one.reports
    )


STATES: Final[dict[str, Plant]] = {
    "running": as_usual,
    "restoring": restoring_tasks,
    "waiting": unavailable_table,
}
"""The states of a driver that has run batches, and what brings each of them."""


def take() -> None:
    """A picture of each fault and of each state."""
    for name, (plant, section) in FAULTS.items():

        def prepare(page: Page, section: str = section) -> None:
            shown = "#alerts li" if section != "left-out" else "#left-out tbody tr"
            expect(page.locator(shown).first).to_be_visible()
            expect(page.locator(".plan .flow", has_text="/s").first).to_be_visible()
            if section != "plan":
                page.locator(f"#{section}").evaluate("element => element.scrollIntoView({block: 'center'})")

        with page_served(run_in_trouble(plant).recorder) as url:
            take_pictures(
                url, f"app-page-{name}", height=HEIGHT, prepare=prepare, schemes=("light",), whole=False
            )
    for state, plant in STATES.items():
        with page_served(run_in_trouble(plant).recorder) as url:
            _take_state(url, state, lambda: None)
    with page_served(WatchedRun().recorder) as url:
        _take_state(url, "starting", lambda: None)
    served = ExitStack()
    _take_state(
        served.enter_context(page_served(run_in_trouble(as_usual).recorder)), "no answer", served.close
    )


def _take_state(url: str, state: str, after_load: Callable[[], None]) -> None:
    """The head of the page and what wants attention, in a window that is no higher."""

    def prepare(page: Page) -> None:
        expect(page.locator("#state")).not_to_have_text("connecting")
        after_load()
        expect(page.locator("#state")).to_have_text(state)

    name = f"app-page-state-{state.replace(' ', '-')}"
    take_pictures(url, name, height=STATE_HEIGHT, prepare=prepare, schemes=("light",), whole=False)


if __name__ == "__main__":
    take()
