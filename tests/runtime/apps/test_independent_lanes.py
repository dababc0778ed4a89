"""Lanes that do not wait for each other: one that takes long, or is lost, stops no other."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamapp_runtime.driver.executors.session_lanes import INDEPENDENT_VARIABLE
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.machine.app_processes import kill
from tests.harness.machine.processes import until
from tests.harness.runs.app_runs import Row, app, inputs, read_all, write_all
from tests.harness.runs.changing_run import Outside, idle

CODE = "tests.harness.user_code.graph_code"
PARTITIONS = 2
USERS = 8


@dataclass(slots=True)
class TwoLanes:
    """An app on two processors, each with a task of its own, and what it has written."""

    system: EmbeddedSystem
    run: Outside

    def send(self, user: str, numbers: range, hold: Path | None = None) -> None:
        rows: list[Row] = [{"user": user, "n": n, "hold": str(hold) if hold else None} for n in numbers]
        write_all(self.system, "events", inputs(rows, "user"), PARTITIONS)

    def rows(self, user: str) -> list[Row]:
        return [record.value for record in read_all(self.system, "out") if record.value["user"] == user]

    def until_written(self, user: str, count: int) -> list[Row]:
        self.run.until_so(lambda: len(self.rows(user)) >= count)
        return self.rows(user)

    def users_of_two_lanes(self) -> tuple[str, str]:
        """A user of each lane."""
        for number in range(USERS):
            self.send(f"u{number}", range(1))
        workers = {f"u{number}": self.until_written(f"u{number}", 1)[0]["worker"] for number in range(USERS)}
        other = next(user for user, worker in workers.items() if worker != workers["u0"])
        return "u0", other


@pytest.fixture
def lanes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoLanes]:
    monkeypatch.setenv(INDEPENDENT_VARIABLE, "true")
    system = EmbeddedSystem(tmp_path / "data")
    for stream in ("events", "out"):
        system.create(stream, PARTITIONS)
    mapped = {"from": "events", "python": f"{CODE}:held", "columns": "user STRING, n INT, worker INT"}
    made = app(
        {"name": "mapped", "map": mapped},
        {"name": "sent", "sendTo": {"from": "mapped", "stream": "out"}},
        streams=[
            {"name": "events", "key": "user", "columns": "user STRING, n INT, hold STRING"},
            {"name": "out"},
        ],
        processors=2,
        rebalanceDelay="300s",
    )
    run = Outside.start(tmp_path, made, processors=2)
    try:
        yield TwoLanes(system, run)
        run.until(idle, len(run.said))
        assert run.end() == 0
    finally:
        run.close()
        system.close()


def test_rows_of_other_lanes_are_written_while_one_lane_is_at_work(lanes: TwoLanes, tmp_path: Path) -> None:
    slow, other = lanes.users_of_two_lanes()
    hold = tmp_path / "row.hold"
    hold.touch()
    lanes.send(slow, range(1, 2), hold)
    until(hold.with_suffix(".seen").exists, limit=60)
    for n in range(1, 6):
        lanes.send(other, range(n, n + 1))
        lanes.until_written(other, n + 1)
    assert len(lanes.rows(slow)) == 1
    hold.unlink()
    lanes.send(slow, range(2, 4))
    assert [row["n"] for row in lanes.until_written(slow, 4)] == [0, 1, 2, 3]
    assert [row["n"] for row in lanes.rows(other)] == list(range(6))


@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_a_lane_that_is_lost_comes_back_and_the_other_keeps_its_worker(
    lanes: TwoLanes, tmp_path: Path, victim: str
) -> None:
    lost, other = lanes.users_of_two_lanes()
    worker, kept = lanes.rows(lost)[0]["worker"], lanes.rows(other)[0]["worker"]
    hold = tmp_path / "row.hold"
    hold.touch()
    lanes.send(lost, range(1, 3), hold)
    until(hold.with_suffix(".seen").exists, limit=60)
    kill(worker if victim == "worker" else executor_of(worker))
    lanes.send(other, range(1, 3))
    others = lanes.until_written(other, 3)
    hold.unlink()
    comes_back = lanes.until_written(lost, 3)
    assert [row["n"] for row in comes_back] == [0, 1, 2]
    assert worker not in {row["worker"] for row in comes_back[1:]}
    assert [(row["n"], row["worker"]) for row in others] == [(n, kept) for n in range(3)]
    assert [said for said in lanes.run.said if said.get("event") == "trouble"]


def executor_of(worker: int) -> int:
    """The JVM whose daemon has forked a worker."""
    return parent_of(parent_of(worker))


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[1])
