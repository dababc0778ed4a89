"""A run with executors of its own that is scaled, hit and grown under load, and counts everything once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp_runtime.driver.spark.jvm_options import COMMON_OPTIONS
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.machine.app_processes import kill
from tests.harness.runs.app_runs import Row, inputs, write_all
from tests.harness.runs.chained_app import USERS, chained, log_has_everything_once
from tests.harness.runs.changing_run import Feeder, Outside, changed, idle, progress


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path / "data")
    system.create("events", 4)
    yield system
    system.close()


def feeding(system: EmbeddedSystem) -> Feeder:
    def write(rows: list[Row]) -> None:
        write_all(system, "events", inputs(rows, "user"), system.partitions("events") or 0)

    return Feeder(write, USERS)


@pytest.mark.nightly
@pytest.mark.timeout(1_800)  # it starts Spark twice, and executors five times
def test_scaled_up_hit_grown_and_scaled_down_under_load_it_counts_everything_once(
    tmp_path: Path, system: EmbeddedSystem
) -> None:
    feeder = feeding(system)
    feeder.one()
    run = Outside.start(tmp_path, chained(), processors=1)
    try:
        at = run.until(lambda said: progress(said) or idle(said))
        with feeder.feeding():
            run.scale(2)
            at = run.until(changed("model", 2), at)
            run.scale(3)
            at = run.until(progress, run.until(changed("model", 3), at))
            kill(run.executors()[0])
            at = run.until(lambda said: said.get("event") == "trouble", at)
            system.grow("events", 8)
            at = run.until(changed("model", 3), at)
            run.scale(2)
            at = run.until(changed("model", 2), at)
        run.until(idle, at)
        assert len(run.executors()) <= 3
        assert run.end() == 0
    finally:
        run.close()
    log_has_everything_once(system, feeder.rounds)


@pytest.mark.long
@pytest.mark.timeout(1_800)
def test_tasks_of_an_executor_that_does_not_come_back_move_and_return_when_it_does(
    tmp_path: Path, system: EmbeddedSystem
) -> None:
    feeder = feeding(system)
    feeder.one()
    run = Outside.start(tmp_path, chained(rebalanceDelay="3s"), processors=2)
    try:
        at = run.until(lambda said: progress(said) or idle(said))
        kept = run.executors()[0]
        assert set(COMMON_OPTIONS.split()) < set(Path(f"/proc/{kept}/cmdline").read_text("utf-8").split("\0"))
        with feeder.feeding():
            moved = len(run.said)

            def gone() -> bool:
                return any(changed("lanes", 1)(said) for said in run.said[moved:])

            while not gone():
                for pid in run.executors():
                    if pid != kept:
                        kill(pid)  # as often as it comes
                with run.news:
                    run.news.wait(0.2)
            run.until(changed("lanes", 2), run.until(changed("lanes", 1), at))
        run.until(idle, len(run.said))
        assert run.end() == 0
    finally:
        run.close()
    log_has_everything_once(system, feeder.rounds)
