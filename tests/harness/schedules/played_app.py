"""An app whose drivers, lanes and log a schedule plays, and what it must have written in the end."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any, Final
from uuid import uuid4

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.failures import FailedError, FinalFailureError
from streamapp_runtime.driver.start.app_storage import AppStorage, embedded_storage
from streamapp_runtime.systems.connection import open_system
from streamapp_runtime.systems.stream_system import StreamSystem, UnavailableError
from tests.harness.core.app_resources import app_resource
from tests.harness.engine.one_system import storage_at_home
from tests.harness.runs.app_runs import AppEnv, Input, Record, read_all, write_all
from tests.harness.schedules.fault_points import Fault, FaultPoints, HangingError, Participant
from tests.harness.schedules.played_driver import PlayedDriver
from tests.harness.schedules.schedule_steps import (
    DRIVERS,
    Arm,
    Feed,
    MisplaceLane,
    PickFolder,
    ReturnProcessors,
    Schedule,
    ScheduleStep,
    StartDriver,
    StepDriver,
    TakeProcessor,
    TryBatch,
    WakeOne,
)
from tests.harness.schedules.threaded_executors import ThreadedExecutor
from tests.harness.schedules.watched_log import CommitHistory

USERS: Final = 5
PARTITIONS: Final = 3
CREATE_CALLS: Final = 4
MOST_STEPS: Final = 150
"""So many batches an app without faults may need for what is left."""


COUNTED: Final = {"from": "regrouped", "key": "user", "aggregates": "count(*) AS rows, sum(n) AS total"}


def app_under_schedules(delivery: str = "exactlyOnce", *, counts: bool = True) -> StreamApp:
    """Rows are copied as they are, and behind a `partitionBy` counted for each user, or copied too."""
    totals = "total" if counts else "regrouped"
    resource = app_resource(
        [
            {"name": "sent", "sendTo": {"from": "events", "stream": "out"}},
            {"name": "regrouped", "partitionBy": {"from": "events", "key": "user"}},
            {"name": "written", "sendTo": {"from": totals, "stream": "totals"}},
            *([{"name": "total", "aggregate": COUNTED}] if counts else []),
        ],
        [
            {"name": "events", "key": "user", "columns": "user STRING, n INT"},
            {"name": "out", "key": "user"},
            {"name": "totals", "key": "user"},
        ],
        delivery=delivery,
    )
    (app,) = parse_data(resource).apps
    return app


@dataclass(slots=True)
class PlayedApp:
    """The drivers of one app, its log, and the model of what it has to write."""

    app: StreamApp
    storage: AppStorage
    system: StreamSystem
    prefix: str = ""  # of the names of its streams
    delivered_once: bool = True  # whether outputs are exact, or rows may be repeated
    independent: bool = False  # whether lanes do not wait for each other
    points: FaultPoints = field(default_factory=FaultPoints)
    history: CommitHistory = field(default_factory=CommitHistory)
    drivers: list[PlayedDriver] = field(default_factory=list)
    fed: list[dict[str, Any]] = field(default_factory=list)
    executors: list[ThreadedExecutor] = field(default_factory=list)
    _folder_picks: list[int] = field(default_factory=list)
    _folders: Iterator[int] = field(default_factory=count)

    def play(self, schedule: Schedule) -> list[str]:
        """What is wrong after the schedule, once all faults are over and everything was read."""
        try:
            for step in schedule:
                self._take(step)
            self._finish()
            self._take(Feed(2 * USERS))  # whose totals say what the stores hold
            self._finish()
        except HangingError as error:
            return [*self.history.violations, str(error)]
        if self.delivered_once:
            return [*self.history.violations, *self._judge_ends_of_drivers(), *self._judge_outputs()]
        return [*self._judge_ends_of_drivers(), *self._judge_lost_rows()]

    def end(self) -> None:
        """End all drivers and executors."""
        self.points.disarm()
        for sleeper in self.points.sleepers():
            self.points.wake(sleeper)
        for driver in self.drivers:
            driver.end()
        for executor in self.executors:
            executor.end()

    def _take(self, step: ScheduleStep) -> None:
        match step:
            case Feed(records):
                numbers = range(len(self.fed), len(self.fed) + records)
                rows = [{"user": f"u{n % USERS}", "n": n} for n in numbers]
                records_fed = [Input(row["user"], row) for row in rows]
                write_all(
                    self.system, f"{self.prefix}events", records_fed, PARTITIONS, f"{self.prefix}feeder"
                )
                self.fed += rows
            case StartDriver():
                self._start_driver()
            case StepDriver(driver, looks):
                self._driver(driver).step(looks=looks)
            case TryBatch(driver):
                self._driver(driver).try_batch()
            case Arm(driver, lane, point, kind):
                participant = Participant(driver % (len(self.drivers) + 1), lane)
                self.points.arm(Fault(participant, point, kind))
            case WakeOne():
                for sleeper in self.points.sleepers()[:1]:
                    self._wake(sleeper)
            case TakeProcessor(driver, lane):
                self._driver(driver).hosting.absent = {lane}
            case ReturnProcessors(driver):
                self._driver(driver).hosting.absent = set()
            case MisplaceLane(driver, lane):
                self._driver(driver).hosting.misplaced.add(lane)
            case PickFolder(index):
                self._folder_picks.append(index)

    def _driver(self, number: int) -> PlayedDriver:
        """A driver of those that were started: the numbers of a schedule go round."""
        return self.drivers[number % len(self.drivers)]

    def _start_driver(self) -> None:
        if len(self.drivers) < DRIVERS:
            self._new_driver()

    def _new_driver(self) -> PlayedDriver:
        driver = PlayedDriver(
            *(len(self.drivers), self.app, self.storage, self.points, self.history, self._executor),
            independent=self.independent,
        )
        self.drivers.append(driver)
        driver.start()
        return driver

    def _executor(self) -> ThreadedExecutor:
        """An executor on a folder that no living one has, or on a new one."""
        folders = self.storage.state.parent / "executors"
        taken = {executor.folder for executor in self.executors if not executor.dead}
        free = sorted({executor.folder for executor in self.executors} - taken)
        pick = self._folder_picks.pop(0) if self._folder_picks else len(free) - 1
        folder = free[pick] if 0 <= pick < len(free) else folders / str(next(self._folders))
        self.executors.append(ThreadedExecutor(folder, self.points, self.history))
        return self.executors[-1]

    def _wake(self, sleeper: object) -> None:
        self.points.wake(sleeper)
        self.points.wait_until(
            lambda: all(driver.quiet for driver in self.drivers),
            "rest after a sleeper was woken",
        )

    def _wake_all(self) -> None:
        while sleepers := self.points.sleepers():
            self._wake(sleepers[0])

    def _finish(self) -> None:
        """Have the newest driver do all that is left, without any more faults."""
        self.points.disarm()
        self._wake_all()
        driver = self._newest_driver()
        if driver.loop is not None:
            driver.loop.recovery.retries.failures = 0
        for _ in range(MOST_STEPS):
            driver.hosting.absent = set()
            driver.hosting.misplaced.clear()
            driver.step()
            if driver.error is not None:
                self.history.violations.append(f"no fault, and the driver ends: {driver.error!r}")
                return
            if not driver.behind:
                return
        self.history.violations.append(f"the app comes to no end: {driver.troubles[-1:]}")

    def _newest_driver(self) -> PlayedDriver:
        """The driver that took over last, if it lives; a new one in its place."""
        living = [one for one in self.drivers if one.error is None and one.loop is not None]
        newest = max(living, key=_incarnation, default=None)
        if newest is None or _incarnation(newest) < self.history.incarnation:
            newest = self._new_driver()
            if newest.error is not None:
                self.history.violations.append(f"no driver can start: {newest.error!r}")
        return newest

    def _judge_ends_of_drivers(self) -> Iterator[str]:
        """No driver ends for good, and one that was replaced ends when it looks, with nothing to do too."""
        for driver in self.drivers:
            if isinstance(driver.error, FinalFailureError):
                yield f"driver {driver.number} ended for good: {driver.error}"
            if driver.error is None and driver.loop and _incarnation(driver) < self.history.incarnation:
                driver.step(looks=True)
                if not isinstance(driver.error, FailedError):
                    yield f"driver {driver.number} was replaced, and goes on"

    def _judge_lost_rows(self) -> Iterator[str]:
        """Each row at least once, in both outputs of an app that does not count."""
        expected = {row["n"] for row in self.fed}
        for stream in ("out", "totals"):
            rows = {record.value["n"] for record in self._read(stream)}
            if rows != expected:
                yield f"{stream} lacks {sorted(expected - rows)}"

    def _read(self, stream: str) -> list[Record]:
        return read_all(self.system, f"{self.prefix}{stream}")

    def _judge_outputs(self) -> Iterator[str]:
        """Each row once, and each total one further than the one before: exactly once."""
        rows = Counter(record.value["n"] for record in self._read("out"))
        expected = Counter(row["n"] for row in self.fed)
        if rows != expected:
            lost, repeated = sorted((expected - rows).elements()), sorted((rows - expected).elements())
            yield f"rows lost: {lost}, twice: {repeated}"
        totals: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for record in self._read("totals"):
            totals[record.value["user"]].append((record.value["rows"], record.value["total"]))
        for user in sorted({row["user"] for row in self.fed}):
            numbers = [row["n"] for row in self.fed if row["user"] == user]
            if totals[user][-1:] != [(len(numbers), sum(numbers))]:
                yield f"{user} is {totals[user][-1:]} in the end, not {(len(numbers), sum(numbers))}"
            counts = [rows_of_user for rows_of_user, _ in totals[user]]
            if counts != sorted(set(counts)):
                yield f"the totals of {user} are {counts}"


def _incarnation(driver: PlayedDriver) -> int:
    return driver.loop.ledger.incarnation if driver.loop else 0


@contextmanager
def played_app(folder: Path, app: StreamApp, *, independent: bool = False) -> Iterator[PlayedApp]:
    """An app on an embedded log of its own."""
    home = folder / uuid4().hex
    storage = embedded_storage(home, app)
    system = open_system(storage.systems.of_home)
    system.create("events", PARTITIONS)
    played = PlayedApp(app, storage, system, independent=independent)
    try:
        yield played
    finally:
        played.end()
        system.close()
        rmtree(home)


@contextmanager
def played_on_broker(env: AppEnv, app: StreamApp) -> Iterator[PlayedApp]:
    """The same app on a broker, where at least once has no transactions."""
    made = env.in_environment(app)
    storage = storage_at_home(env.home, made)
    played = PlayedApp(made, storage, env.system, env.prefix, delivered_once=False)
    _create(env.system, f"{env.prefix}events")
    try:
        yield played
    finally:
        played.end()


def _create(system: StreamSystem, stream: str) -> None:
    """Create the input, as drivers do: a broker that has just started may need more than one call."""
    for _ in range(CREATE_CALLS - 1):
        try:
            system.create(stream, PARTITIONS)
        except UnavailableError:
            continue
        return
    system.create(stream, PARTITIONS)
