"""What a growth does to the executors of a run: it keeps them, or begins with others, as the app says."""

from pathlib import Path

import pytest

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.runs.app_runs import Row, inputs, write_all
from tests.harness.runs.chained_app import USERS, chained, log_has_everything_once
from tests.harness.runs.changing_run import Feeder, Outside, changed, idle, progress


@pytest.mark.long
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("way", ["restart", pytest.param("live", marks=pytest.mark.nightly)])
def test_a_growth_begins_with_other_executors_where_the_app_wants_a_restart_and_keeps_them_where_not(
    tmp_path: Path, way: str
) -> None:
    system = EmbeddedSystem(tmp_path / "data")
    system.create("events", 4)

    def write(rows: list[Row]) -> None:
        write_all(system, "events", inputs(rows, "user"), system.partitions("events") or 0)

    feeder = Feeder(write, USERS)
    feeder.one()
    run = Outside.start(tmp_path, chained(onPartitionChange=way), processors=2)
    try:
        at = run.until(lambda said: progress(said) or idle(said))
        before = set(run.executors())
        assert len(before) == 2
        with feeder.feeding():
            system.grow("events", 8)
            at = run.until(progress, run.until(changed("model", 2), at))
        run.until(idle, at)
        after = set(run.executors())
        assert after == before if way == "live" else after.isdisjoint(before)
        assert run.end() == 0
    finally:
        run.close()
    log_has_everything_once(system, feeder.rounds)
    system.close()
