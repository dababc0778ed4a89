"""An app on three executors, each with a disk of its own, that are ended and come back one after the other.

Its argument is a folder. It prints a line of JSON for each time that tasks had to move: how many did, how
many of them to a disk without their stores, the bytes that were restored, and the bytes that are the bound:
what moved tasks lack at their disk, and what any task may have had pending when lanes were fenced.
"""

import json
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic

from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.executors.session_lanes import close_lanes
from streamapp_runtime.driver.spark.spark_session import close_session, live_executors, open_session
from streamapp_runtime.rows.byte_columns import byte_count
from streamapp_runtime.stores.directories.state_directory import app_directory, quoted
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.runs.app_runs import AppEnv, inputs
from tests.harness.runs.called_observer import CalledObserver
from tests.harness.runs.chained_app import chained, log_has_everything_once, numbered
from tests.harness.runs.run_systems import embedded

PROCESSORS, PARTITIONS = 3, 6
FIRST_BATCHES, ROUNDS = 16, 2
PATIENCE_SECONDS = 120.0

Changelogs = Mapping[str, int]
"""Store -> end of its changelog."""


@dataclass(slots=True)
class Disks:
    """One disk for each executor: what a task has left on one is not on another, and is there again later."""

    folder: Path
    state: Path  # of the app, which all executors of this machine share
    disk_of: dict[str, str] = field(default_factory=dict)  # executor -> disk
    at: dict[str, str] = field(default_factory=dict)  # task -> disk

    def __call__(self, live: Collection[str]) -> Mapping[str, str]:
        """The disk of each executor; one that is new has that of one that is gone."""
        for executor in sorted(live):
            if executor not in self.disk_of:
                taken = {self.disk_of[other] for other in live if other in self.disk_of}
                self.disk_of[executor] = min({f"disk-{number}" for number in range(PROCESSORS)} - taken)
        return {executor: self.disk_of[executor] for executor in live}

    def unschedulable(self) -> int:
        """None: this machine has room for all of them."""
        return 0

    def move(self, task: str, disk: str) -> None:
        """Have a task find what lies on this disk, and leave what it has on the one where it was."""
        before = self.at.get(task, disk)
        self.at[task] = disk
        if before != disk:
            shared, left = self.state / quoted(task), self.folder / before / quoted(task)
            left.parent.mkdir(parents=True, exist_ok=True)
            shared.rename(left)
            waiting = self.folder / disk / quoted(task)
            if waiting.exists():
                waiting.rename(shared)


@dataclass(slots=True)
class RolledApp:
    """The app, its disks, and what is counted."""

    env: AppEnv
    pool: ExecutorPool
    disks: Disks = field(init=False)
    loop: Loop = field(init=False)
    rounds: int = 0
    restored_bytes: int = 0
    moved: int = 0
    without_stores: int = 0
    lacking: int = 0
    _before: Mapping[str, Changelogs] = field(default_factory=dict)  # as of the last batch but one
    _now: Mapping[str, Changelogs] = field(default_factory=dict)
    _pending: Mapping[str, Changelogs] = field(default_factory=dict)  # from where on stores may lack writes
    _left: dict[tuple[str, str], Changelogs] = field(default_factory=dict)  # by task and disk

    def __post_init__(self) -> None:
        self.write()
        app = chained(processors=PROCESSORS, rebalanceDelay="0s")
        _, launch = self.env.launched(app, PROCESSORS)
        self.disks = Disks(self.env.data / "disks", app_directory(self.env.home.state, app.application_id))
        self.loop = Loop(
            self.env.session,
            CurrentRun.of(launch),
            observer=CalledObserver(changed=self.note_moves),
            locations=self.disks,
        )
        self.loop.start()
        for _ in range(FIRST_BATCHES):
            self.until(lambda: not self.loop.planner.behind)
            self.write()
        self.until(lambda: not self.loop.planner.behind)
        for name, tasks in self.loop.lanes.supervisor.lanes.items():
            location = self.loop.lanes.supervisor.executors.store_locations[name]
            for task in tasks:
                self.disks.move(task, str(location))
        self.begin_step()

    def begin_step(self) -> None:
        self.moved = self.without_stores = self.restored_bytes = self.lacking = 0
        self._pending = self._before

    def write(self) -> None:
        self.env.write("events", inputs(numbered(self.rounds, self.rounds + ROUNDS), "user"), PARTITIONS)
        self.rounds += ROUNDS

    def changelogs(self) -> dict[str, Changelogs]:
        """What is committed of each task's changelogs."""
        return {task: checkpoint.changelogs for task, checkpoint in self.loop.ledger.of_tasks().items()}

    def until(self, done: Callable[[], bool]) -> None:
        """Run batches until something is so."""
        deadline = monotonic() + PATIENCE_SECONDS
        while not done():
            if monotonic() > deadline:
                raise AssertionError(f"it did not come to pass: {self.loop.lanes.supervisor}")
            batch = self.loop.step()
            if batch is None:
                Event().wait(0.1)
            else:
                self.restored_bytes += batch.restored_bytes
            if (now := self.changelogs()) != self._now:
                self._before, self._now = self._now, now

    def note_moves(self, change: RunChange) -> None:
        """Before lanes are bound: who goes to another disk, and what it has to restore there at most."""
        lanes = self.loop.lanes.supervisor.lanes
        locations = self.loop.lanes.supervisor.executors.locations_of(tuple(lanes))
        now = self.changelogs()
        for name, tasks in lanes.items():
            disk = str(locations[name])
            for task in tasks:
                if self.disks.at.get(task, disk) == disk:
                    continue
                self._left[task, self.disks.at[task]] = self._before[task]
                there = self._left.get((task, disk), {})
                self.moved += 1
                self.without_stores += not there
                self.lacking += self.changelog_bytes(task, there, now[task])
                self.disks.move(task, disk)

    def changelog_bytes(self, task: str, begin: Changelogs, end: Changelogs) -> int:
        """The bytes of a task's changelogs between two checkpoints."""
        index = self.loop.launch.assignment.layout.changelog[task]
        specs, size = self.loop.launch.setup.store_specs, 0
        for store, last in end.items():
            source = TopicPartition(specs[store].changelog or "", index)
            for records in self.env.system.read(source, begin.get(store, 0), last):
                size += byte_count(records.column("key")) + byte_count(records.column("value"))
        return size

    def end_step(self, step: str) -> None:
        """Print what was counted since the step before."""
        pending = sum(
            self.changelog_bytes(task, self._pending[task], end) for task, end in self.changelogs().items()
        )
        counts = {
            "step": step,
            "moved": self.moved,
            "without": self.without_stores,
            "restored": self.restored_bytes,
            "lacking": self.lacking,
            "bound": self.lacking + pending,
        }
        sys.stdout.write(json.dumps(counts) + "\n")
        self.begin_step()

    def roll(self, name: str) -> None:
        """End the executor of a processor, and have another come to its disk when its tasks have moved."""
        supervisor = self.loop.lanes.supervisor
        self.pool.release_others([one for other, one in supervisor.executors.bound.items() if other != name])
        self.until(lambda: len(live_executors(self.env.session)) < PROCESSORS)
        self.write()
        self.until(lambda: not supervisor.assignment.complete and not self.loop.planner.behind)
        self.end_step("out")
        self.pool.request(PROCESSORS)
        self.until(lambda: supervisor.assignment.complete and not self.loop.planner.behind)
        self.write()
        self.until(lambda: not self.loop.planner.behind)
        self.end_step("back")


def main(folder: Path) -> None:
    session = open_session("rolled", PROCESSORS)
    session.environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    try:
        with embedded(session, folder) as env:
            rolled = RolledApp(env, ExecutorPool("rolled", session, lambda _: None, PROCESSORS))
            for name in tuple(rolled.loop.launch.lanes):
                rolled.roll(name)
            rolled.loop.release()
            log_has_everything_once(env.system, rolled.rounds)
    finally:
        close_lanes()
        close_session(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
