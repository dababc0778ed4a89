"""Pages of runs that go by a clock of the tests, served as a driver serves them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from prometheus_client import CollectorRegistry

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Role
from streamapp.plan.planner import plan
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.page.page_recorder import PageRecorder
from streamapp_runtime.driver.page.page_routes import PageRoutes
from streamapp_runtime.driver.page.recent_lines import RecentLines
from streamapp_runtime.driver.page.running_app import RunningApp
from streamapp_runtime.driver.reporting.metrics_server import metrics_server, serve_metrics
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.engine.batch_results import batch
from tests.harness.graphs.graph_drawing import drawn, merge, reads, sends

BEGAN = 1_795_000_000.0
_READ = (Role.INPUT, Role.INTERMEDIATE)


@dataclass(slots=True)
class PageClock:
    """Time that passes when a test says so."""

    seconds: float = BEGAN

    def __call__(self) -> float:
        return self.seconds


@dataclass(slots=True)
class WatchedRun:
    """A run that is told to its page."""

    clock: PageClock = field(default_factory=PageClock)
    show_values: bool = False
    recorder: PageRecorder = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = PageRecorder(self.clock, self.clock, self.show_values)

    def batches(self, batch: BatchResult, count: int, seconds: float = 2.0) -> None:
        """The same batch so many times, each that long after the one before."""
        for number in range(count):
            self.clock.seconds += seconds
            self.recorder.batch_committed(replace(batch, number=batch.number + number))


def running(
    graph: Graph, tasks: int = 4, processors: int = 1, sizes: Mapping[str, tuple[int, int]] | None = None
) -> RunningApp:
    """An app with its tasks on processors by turns, two on each host."""
    planned = plan(graph)
    names = [f"Partition {number}" for number in range(tasks)]
    lanes = {f"processor-{number}": tuple(names[number::processors]) for number in range(processors)}
    return RunningApp(
        name="shop.page-views",
        graph=graph,
        plan=planned,
        model=1,
        lanes=lanes,
        partitions={
            name: tuple(f"{one.name}#{number}" for one in planned.streams.values() if one.role in _READ)
            for number, name in enumerate(names)
        },
        locations={name: f"host-{number // 2}" for number, name in enumerate(lanes)},
        sizes=lambda: sizes or {},
    )


def reports(app: RunningApp, status: TaskStatus = TaskStatus.COMMITTED) -> tuple[TaskReport, ...]:
    """A report of each task, as lanes send them."""
    return tuple(
        TaskReport(task, status, steps=(("read", 0.02), ("commit", 0.05)), location=str(app.locations[name]))
        for name, tasks in app.lanes.items()
        for task in tasks
    )


def slow_run(
    app: RunningApp,
    steps: Sequence[tuple[str, float]],
    seconds: float = 12.0,
    count: int = 3,
    **more: Any,
) -> WatchedRun:
    """A run of an app that keeps up, whose batches take so long, and these steps of their only lane."""
    run = WatchedRun()
    run.recorder.runs(app)
    one = batch(seconds=seconds, **more)
    run.batches(replace(one, reports=tuple(replace(r, steps=steps) for r in one.reports)), count, seconds)
    return run


def two_merged_streams() -> Graph:
    """Streams `views` and `orders` that are merged as `both` before they are written."""
    return drawn(
        reads("views"), reads("orders"), merge("both", "views", "orders"), sends("out", "both", "enriched")
    )


@contextmanager
def page_served(
    recorder: PageRecorder, event_seconds: float = 0.1, port: int = 0, lines: RecentLines | None = None
) -> Iterator[str]:
    """Serve a page for as long as this lasts; gives its address."""
    routes = PageRoutes(recorder, event_seconds, lines or RecentLines())
    server = metrics_server(CollectorRegistry(), port, routes={"/page": routes.respond})
    with serve_metrics(server) as url, routes:
        yield url.removesuffix("/metrics") + "/page/"
