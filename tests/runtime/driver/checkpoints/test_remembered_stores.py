"""What a driver remembers of where stores lie, and what the next driver knows of it, on a real log."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from streamapp.placement.locations.store_history import StorePlace
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.checkpoint_entries import STORE_HISTORY
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.ownership import NOBODY
from streamapp_runtime.driver.checkpoints.remembered_stores import RENEWED_SECONDS, RememberedStores
from streamapp_runtime.driver.checkpoints.state_reset import NEVER, StateReset
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.engine.overtaken_log import STREAM

SPECS = {
    "totals": StoreSpec("totals", StoreKind.LMDB, "ab", "totals.changelog"),
    "users": StoreSpec("users", StoreKind.ROCKSDB, "cd", "users.changelog"),
    "recent": StoreSpec("recent", StoreKind.MEMORY, "ef", "recent.changelog"),
}


@dataclass(slots=True)
class Driver:
    """One driver's memory over the log of an app, with a clock of its own."""

    system: EmbeddedSystem
    now: float = 1_000.0
    reset: StateReset = NEVER
    ledger: CheckpointStream = field(init=False)
    stores: RememberedStores = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = CheckpointStream(self.system, STREAM)
        self.ledger.open("run", NOBODY, self.reset)
        self.stores = RememberedStores(self.ledger, lambda: self.now)

    def bind(self, **locations: str | None) -> None:
        self.stores.note_bound(locations, ["a", "b"], SPECS)

    def restore(self, **restored: int) -> None:
        """All tasks commit, after they have restored so many changelog entries."""
        reports = [TaskReport(task, TaskStatus.COMMITTED, restored=restored.get(task, 0)) for task in "ab"]
        self.stores.note_reports(reports, SPECS)

    def checkpoint(self, task: str, **changelogs: int) -> None:
        self.ledger.checkpoints[task] = Checkpoint("run", changelogs=changelogs).encode().decode()

    def places(self, task: str) -> Mapping[str, int]:
        return self.stores.positions(SPECS).get(task, {})

    def written(self) -> bool:
        return STORE_HISTORY.key in self.system.latest(STREAM)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path)
    yield system
    system.close()


def test_a_store_is_as_far_as_the_changelogs_that_are_kept_on_disk(system: EmbeddedSystem) -> None:
    driver = Driver(system)
    driver.bind(a="node-1")
    driver.restore()
    driver.checkpoint("a", totals=70, users=5, recent=1_000)
    assert driver.places("a") == {"node-1": 75}


def test_what_a_task_left_behind_stays_as_far_as_it_was_while_the_task_goes_on(
    system: EmbeddedSystem,
) -> None:
    driver = Driver(system)
    driver.bind(a="node-1", b="node-1")
    driver.restore()
    driver.checkpoint("a", totals=70)
    driver.bind(a="node-2", b="node-1")
    assert driver.places("a") == {"node-1": 70, "node-2": 0}
    driver.restore()
    driver.checkpoint("a", totals=90)
    assert driver.places("a") == {"node-1": 70, "node-2": 90}


@pytest.mark.parametrize("status", [TaskStatus.RESTORING, TaskStatus.UNAVAILABLE])
def test_a_task_that_has_not_committed_anything_may_still_be_restoring(
    system: EmbeddedSystem, status: TaskStatus
) -> None:
    driver = Driver(system)
    driver.bind(a="node-1", b="node-1")
    driver.checkpoint("a", totals=70)
    driver.stores.note_reports([TaskReport("a", status, restored=9)], SPECS)
    assert driver.places("a") == {"node-1": 0}
    driver.restore(a=61)
    assert driver.places("a") == {"node-1": 70}


def test_the_next_driver_knows_what_the_last_one_knew(system: EmbeddedSystem) -> None:
    first = Driver(system)
    first.bind(a="node-1", b="node-2")
    first.restore()
    first.checkpoint("a", totals=70)
    first.bind(a="node-2", b="node-2")
    first.restore()
    second = Driver(system)
    assert second.stores.history == first.stores.history
    assert second.stores.written == first.stores.written


def test_a_driver_does_not_take_the_stores_of_the_last_one_for_further_than_was_noted(
    system: EmbeddedSystem,
) -> None:
    first = Driver(system)
    first.bind(a="node-1", b="node-2")  # and ends while all tasks still restore
    transaction = system.begin(STREAM, first.ledger.incarnation)
    transaction.put(STREAM, b"a", Checkpoint("run", changelogs={"totals": 70}).encode())
    transaction.commit()
    second = Driver(system)
    second.bind(a="node-2", b="node-2")
    assert second.stores.history.places["a"][1:] == (StorePlace("node-1", 0, 1_000),)
    assert second.places("a") == {"node-2": 0}


def test_the_memory_of_a_run_that_was_given_up_is_given_up_with_it(system: EmbeddedSystem) -> None:
    Driver(system).bind(a="node-1", b="node-2")
    assert Driver(system).stores.history.places.keys() == {"a", "b"}
    assert Driver(system, reset=StateReset(1)).stores.history.places == {}


def test_nothing_is_written_while_everything_was_always_at_one_location(system: EmbeddedSystem) -> None:
    driver = Driver(system)
    driver.bind(a="here", b="here")
    driver.restore()
    assert not driver.written()
    assert driver.stores.written.places == {}
    driver.bind(a="here", b="there")
    assert driver.written()
    assert driver.stores.written.places.keys() == {"a", "b"}


def test_what_cannot_be_read_is_empty_and_is_written_anew(system: EmbeddedSystem) -> None:
    Driver(system).ledger.record(STORE_HISTORY, "no history")
    driver = Driver(system)
    assert driver.stores.history.places == {}
    driver.bind(a="node-1", b="node-2")
    assert Driver(system).stores.history.places.keys() == {"a", "b"}


def test_stores_that_stay_are_noted_again_from_time_to_time(system: EmbeddedSystem) -> None:
    driver = Driver(system)
    driver.bind(a="node-1", b="node-2")
    driver.restore()
    driver.checkpoint("a", totals=70)
    driver.restore()
    assert Driver(system).stores.history.places["a"] == (StorePlace("node-1", 0, 1_000),)
    renewed = Driver(system, now=1_000 + RENEWED_SECONDS)
    renewed.bind(a="node-1", b="node-2")
    renewed.restore()
    renewed.checkpoint("a", totals=70)
    renewed.now += RENEWED_SECONDS
    renewed.restore()
    assert Driver(system).stores.history.places["a"][0].position == 70


def test_a_location_that_lost_the_store_of_a_task_is_forgotten_for_the_others(system: EmbeddedSystem) -> None:
    both = {"node-1": 50, "node-2": 50}
    for restored, remembered in {20: both, 45: both, 46: {"node-2": 50}, 70: {"node-2": 50}}.items():
        driver = Driver(system, reset=StateReset(restored))
        driver.bind(a="node-1", b="node-1")
        driver.restore()
        driver.checkpoint("a", totals=50)
        driver.checkpoint("b", totals=50)
        driver.now += 1
        driver.bind(a="node-2", b="node-2")
        driver.restore(a=50, b=50)
        driver.checkpoint("a", totals=70)
        driver.now += 1
        driver.bind(a="node-1", b="node-2")
        driver.restore(a=restored)
        assert driver.places("a") == {"node-1": 70, "node-2": 70}
        assert driver.places("b") == remembered


def test_tasks_that_are_gone_are_forgotten(system: EmbeddedSystem) -> None:
    driver = Driver(system)
    driver.bind(a="node-1", b="node-2")
    driver.stores.note_bound({"a": "node-1"}, ["a"], SPECS)
    assert driver.stores.history.places.keys() == {"a"}
