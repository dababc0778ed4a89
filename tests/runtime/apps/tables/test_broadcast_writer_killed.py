"""Two processors of one location share a broadcast table; the one that fills it is killed, for longer too."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.stores.directories.state_directory import EVERY_TASK, state_directory
from streamapp_runtime.stores.directories.store_lock import recorded_holder
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.machine.app_processes import kill
from tests.harness.runs.app_runs import Row, app, inputs, read_all, write_all
from tests.harness.runs.changing_run import (
    PATIENCE_SECONDS,
    Feeder,
    Outside,
    Said,
    changed,
    idle,
    progress,
)

USERS = 8


def rounds_seen() -> StreamApp:
    """Every user has the same number in the table: that of the round in which all of them were written."""
    looked_up = {
        "from": "views",
        "table": "rounds",
        "key": "user",
        "select": "n, round, current_timestamp() AS at",
    }
    side = {"stream": "users", "bootstrap": True, "value": "n AS round"}
    columns = "user STRING, n INT"
    return app(
        {"name": "with", "joinTable": looked_up},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[
            {"name": "views", "key": "user", "columns": columns},
            {"name": "users", "key": "user", "columns": columns},
            {"name": "out"},
        ],
        tables=[{"name": "rounds", "broadcast": True, "sideInputs": [side]}],
        rebalanceDelay="3s",
    )


def feeding(system: EmbeddedSystem) -> Feeder:
    """Gives all users the number of the round, at once, and lets each of them view something."""

    def write(rows: list[Row]) -> None:
        write_all(system, "users", inputs(rows, "user"), 1)
        write_all(system, "views", inputs(rows, "user"), 4)

    return Feeder(write, USERS)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path / "data")
    yield system
    system.close()


def writer(run: Outside) -> int:
    """The executor whose worker has the table's store open, as soon as there is one."""
    store = state_directory(run.folder / "data" / "state", "test.app", EVERY_TASK, "rounds")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        holder = recorded_holder(store)
        ancestors = set(_ancestors(holder.pid)) if holder and holder.lives_here() else set()
        for pid in ancestors & set(run.executors()):
            return pid
        with run.news:
            run.news.wait(0.1)
    raise AssertionError("nobody fills the table")


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        yield pid
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
        except OSError:
            return


def _progress_on_one_lane(said: Sequence[Said]) -> bool:
    changes = [place for place, one in enumerate(said) if changed("lanes", 1)(one)]
    return bool(changes) and any(progress(one) for one in said[changes[0] :])


@pytest.mark.long
@pytest.mark.timeout(1_800)  # executors are started several times
def test_another_lane_goes_on_filling_it_and_every_batch_sees_one_version_of_it(
    tmp_path: Path, system: EmbeddedSystem
) -> None:
    feeder = feeding(system)
    feeder.one()
    run = Outside.start(tmp_path, rounds_seen(), processors=2)
    try:
        at = run.until(lambda said: progress(said) or idle(said))
        with feeder.feeding():
            kill(writer(run))
            at = run.until(progress, run.until(lambda said: said.get("event") == "trouble", at))
            (kept,) = set(run.executors()) - {writer(run)}
            while not _progress_on_one_lane(run.said[at:]):
                for pid in set(run.executors()) - {kept}:
                    kill(pid)  # as often as it comes: it may be back before the next line of progress
                with run.news:
                    run.news.wait(0.2)
            at = len(run.said)
            assert writer(run) == kept
            at = run.until(progress, run.until(changed("lanes", 2), at))
            assert writer(run) == kept  # who fills it goes on while it is there
        run.until(idle, len(run.said))
        assert run.end() == 0
    finally:
        run.close()
    rows = [record.value for record in read_all(system, "out")]
    assert sorted(row["n"] for row in rows) == [n for n in range(feeder.rounds) for _ in range(USERS)]
    seen = defaultdict(set)
    for row in rows:
        seen[row["at"]].add(row["round"])
    assert {len(found) for found in seen.values()} == {1}, "rows of one batch saw several versions"
    in_order = [found.pop() for _, found in sorted(seen.items())]
    assert in_order == sorted(in_order), "rows saw an older version than rows before them"
    assert len(set(in_order)) > 1, "the table did not change under the rows"
