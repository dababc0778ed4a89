"""An executor whose processes are stopped, while the kernel answers for them, is replaced."""

import time
from pathlib import Path
from typing import Any

import pytest

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.machine.app_processes import of_executor, standing_still
from tests.harness.runs.app_runs import app, inputs, read_all, write_all
from tests.harness.runs.changing_run import Feeder, Outside, idle

pytestmark = pytest.mark.long
PARTITIONS = 4
USERS = 8
LIMIT_SECONDS = 60.0
"""Half of what Spark waits for the heartbeats of an executor."""
STREAMS = [{"name": "events", "key": "user", "columns": "user STRING, n INT"}, {"name": "out", "key": "user"}]
OF_SPARK = {"name": "marked", "map": {"from": "events", "select": "user, n, soundex(user) AS mark"}}


def counting(stream: str) -> dict[str, Any]:
    return {"name": "counted", "aggregate": {"from": stream, "aggregates": "count(*) AS rows"}}


@pytest.mark.parametrize(
    ("operators", "batch"),
    [
        pytest.param([counting("events")], {}, marks=pytest.mark.nightly),
        ([counting("events")], {"independentLanes": True}),
        pytest.param([OF_SPARK, counting("marked")], {}, marks=pytest.mark.nightly),
    ],
    ids=["together", "independent", "evaluated"],
)
def test_rows_of_all_keys_come_again_while_an_executor_is_stopped(
    tmp_path: Path, operators: list[dict[str, Any]], batch: dict[str, Any]
) -> None:
    system = EmbeddedSystem(tmp_path / "data")
    for stream in ("events", "out"):
        system.create(stream, PARTITIONS)
    sent = {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}}
    made = app(*operators, sent, streams=STREAMS, processors=2, rebalanceDelay="1s", batch=batch)
    run = Outside.start(tmp_path, made, 2)
    feeder = Feeder(lambda rows: write_all(system, "events", inputs(rows, "user"), PARTITIONS), USERS)

    def counted(user: int) -> int:
        rows = [one.value["rows"] for one in read_all(system, "out") if one.key == f"u{user}"]
        assert rows == sorted(set(rows))  # one row of each batch, and no batch twice
        return rows[-1] if rows else 0

    def caught_up(rounds: int) -> bool:
        return all(counted(user) >= rounds for user in range(USERS))

    try:
        run.until(idle)
        with feeder.feeding():
            run.until_so(lambda: caught_up(1))
            with standing_still(of_executor(tmp_path / "points")):
                since, rounds = time.monotonic(), feeder.rounds + 2
                run.until_so(lambda: caught_up(rounds))
                assert time.monotonic() - since < LIMIT_SECONDS
            rounds = feeder.rounds + 2
            run.until_so(lambda: caught_up(rounds))
        run.until_so(lambda: caught_up(feeder.rounds))
        assert run.end() == 0
        assert [counted(user) for user in range(USERS)] == [feeder.rounds] * USERS
    finally:
        run.close()
        system.close()
