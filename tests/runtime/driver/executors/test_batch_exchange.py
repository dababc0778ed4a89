"""The contract of the exchange that runs batches, with lanes on Spark."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.executors.resident_lanes import ResidentLanes
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.machine.processes import parent_of, until
from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, inputs
from tests.harness.runs.run_systems import ON_SPARK

CODE = "tests.harness.user_code.graph_code"
ROWS: list[Row] = [{"user": f"u{n % 5}", "n": n} for n in range(40)]


@dataclass(slots=True)
class Run:
    """An app that writes beside each row which process has worked on it."""

    env: AppEnv
    loop: Loop
    troubles: list[str] = field(default_factory=list)

    def to_end(self) -> None:
        """Read all that there is."""
        while self.loop.planner.behind:
            self.loop.step()

    def worker(self) -> int:
        """The process that has worked on the last row."""
        return int(self.env.rows("out")[-1]["worker"])


Started = Callable[[], Run]


@pytest.fixture
def started(env: AppEnv) -> Started:
    def start() -> Run:
        columns = "user STRING, n INT, worker INT"
        mapped = {"from": "events", "python": f"{CODE}:with_worker", "columns": columns}
        made = app(
            {"name": "mapped", "map": mapped},
            {"name": "sent", "sendTo": {"from": "mapped", "stream": "out"}},
            streams=[{"name": "events", "key": "user", "columns": "user STRING, n INT"}, {"name": "out"}],
        )
        env.write("events", inputs(ROWS, "user"))
        _, launch = env.launched(made)
        troubles: list[str] = []
        loop = env.loop(
            CurrentRun.of(launch, batch_rows=7), pause=lambda _: None, batch_failed=troubles.append
        )
        run = Run(env, loop, troubles)
        run.loop.start()
        return run

    return start


def rows_of(run: Run) -> list[Row]:
    return in_order([{"user": row["user"], "n": row["n"]} for row in run.env.rows("out")])


@ON_SPARK
def test_each_batch_is_reported_by_all_tasks_and_every_row_written_once(started: Started) -> None:
    run = started()
    numbers = []
    while run.loop.planner.behind:
        if batch := run.loop.step():
            numbers.append(batch.number)
            assert {report.task for report in batch.reports} == run.loop.lanes.supervisor.tasks
            assert {report.status for report in batch.reports} == {TaskStatus.COMMITTED}
    assert isinstance(run.loop.lanes.supervisor.exchange, ResidentLanes)
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > len(ROWS) // 7
    assert rows_of(run) == in_order(ROWS)
    assert run.troubles == []


@ON_SPARK
def test_spark_has_its_slot_again_once_stores_are_closed(started: Started) -> None:
    run = started()
    run.to_end()
    run.loop.release()
    assert run.env.session.parallelize(range(3)).count() == 3


@ON_SPARK
def test_one_worker_serves_all_batches(started: Started) -> None:
    run = started()
    run.to_end()
    assert len({row["worker"] for row in run.env.rows("out")}) == 1


@ON_SPARK
@pytest.mark.parametrize("killed", ["worker", "daemon"])
def test_a_process_that_dies_between_batches_costs_no_row(started: Started, killed: str) -> None:
    run = started()
    while not run.env.rows("out"):
        run.loop.step()
    worker = run.worker()
    os.kill(worker if killed == "worker" else parent_of(worker), signal.SIGKILL)
    until(lambda: not is_alive(worker), limit=10)
    run.to_end()
    assert rows_of(run) == in_order(ROWS)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@ON_SPARK
def test_an_exchange_that_was_left_open_gives_way_to_the_next(started: Started) -> None:
    first = started()
    while not first.env.rows("out"):
        first.loop.step()
    second = started()
    second.to_end()
    assert rows_of(second) == in_order([*ROWS, *ROWS])
