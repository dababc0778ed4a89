"""A run from beginning to end: storage, session, launch, loop, release. What differs is the mode's."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from pyspark import SparkContext

from streamapp.author.names import checkpoint_stream
from streamapp.author.start_problems import start_problems
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.batch_watch import watched_calls
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.retries import MOST_OUTAGE_SECONDS
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.run_settings import CurrentRun, RunSettings
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus, OutboxDeliveries
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.failures import RETRIABLE, FailedError, FinalFailureError
from streamapp_runtime.driver.garbage_collection import collect_seldom
from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.driver.imports.table_refreshes import RefreshStatus, TableRefreshes
from streamapp_runtime.driver.modes.model_follower import ModelFollower
from streamapp_runtime.driver.modes.stop_signal import SignalStop, StoppedError
from streamapp_runtime.driver.reporting.open_windows import open_windows
from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.spark.jvm import mute_jvm
from streamapp_runtime.driver.start.app_storage import AppStorage
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.state_queries.state_queries import StateQueries
from streamapp_runtime.lanes import tables_file
from streamapp_runtime.systems.answering_systems import silent_systems_text
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import SystemConnections
from streamapp_runtime.systems.stream_system import (
    FencedError,
    InvalidSettingsError,
    RecordRefusedError,
    UnknownStreamError,
)

LAST_BATCH_SECONDS: Final = 30.0
"""So long a batch may go on when the time of a run is over; then nothing of it is committed."""
TIDY_SECONDS: Final = 60.0
"""How often an idle driver maintains the log; small partitions are compacted at commits anyway."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The end of a run that nobody stops."""

    until_end: bool = False  # when everything that is there has been read
    seconds: float | None = None  # after so long


class RunMode(Protocol):
    """The steps in which a run by hand and a run under an operator differ. Called in this order."""

    @property
    def app(self) -> StreamApp:
        """The app that is to run."""

    @property
    def limits(self) -> RunLimits:
        """The end of the run by itself."""

    @property
    def locations(self) -> ExecutorLocations:
        """The locations of executors."""

    def begin(self) -> None:
        """Say that the run begins, before anything else."""

    def storage(self) -> AppStorage:
        """The storage of the app's streams and stores; AppRefusedError where they cannot be anywhere."""

    def refuse_early(self, storage: AppStorage) -> None:
        """AppRefusedError for what needs no Spark to be refused."""

    def open_executors(self, storage: AppStorage) -> ExecutorPool:
        """A Spark session, and the means to have more or fewer executors in it."""

    def first_launch(
        self,
        storage: AppStorage,
        systems: Systems,
        ledger: CheckpointStream,
        spark: SparkContext,
        stop: SignalStop,
        import_progressed: Callable[[ImportProgress], None],
    ) -> Launch:
        """Take over, and make the first model ready; StoppedError where the run was to end before.

        `import_progressed` is called while tables that the app reads are imported.
        """

    def settings(self) -> RunSettings:
        """The settings of the batches."""

    def follower(
        self, loop: Loop, executor_pool: ExecutorPool, changed: Callable[[RunChange], None]
    ) -> ModelFollower:
        """The follower that is called between two batches."""


def run_app(
    mode: RunMode, stop: SignalStop, observer: RunObserver, queries: StateQueries | None = None
) -> None:
    """Run an app until it is told to stop, or until its limits; lanes answer `queries` where there are any.

    AppRefusedError when it cannot run as it is, FailedError when it may be tried again.
    """
    mode.begin()
    if queries is not None:
        queries.arrived = stop.wake
    if problems := start_problems(mode.app):
        raise AppRefusedError(list(problems))
    storage = mode.storage()
    mode.refuse_early(storage)
    systems = open_app_systems(mode.app, storage)
    deliveries = OutboxDeliveries(mode.app, storage.systems)
    executor_pool, refreshes = mode.open_executors(storage), None
    try:
        ledger = CheckpointStream(systems.home, checkpoint_stream(mode.app.application_id))
        try:
            import_progressed = _progress_unless_stopped(observer, stop)
            launch = mode.first_launch(storage, systems, ledger, executor_pool.spark, stop, import_progressed)
            _prepare(deliveries)
        except (FencedError, *RETRIABLE) as error:
            raise FailedError(f"the start failed: {error}") from error
        observer.launched(launch)
        tables_file.write_tables_file(Path(launch.setup.state), launch.program, launch.setup)
        deliveries.start()
        loop = Loop(
            executor_pool.spark,
            CurrentRun(launch, mode.settings()),
            is_stopped=stop.is_set,
            locations=mode.locations,
            observer=observer,
            outbox_is_full=lambda: deliveries.is_full,
            queries=queries or StateQueries(),
        )
        follower = mode.follower(loop, executor_pool, observer.changed)
        follower.begin()
        _start(loop)
        collect_seldom()
        idle = _with_compaction(systems, observer.idle)
        refreshes = TableRefreshes(lambda: _running(loop), ledger)
        refreshes.start()
        background = _BackgroundWork(observer, deliveries, refreshes)
        with watched_calls(systems.trouble, loop.recovery.outages.driver_waits):
            _serve(loop, follower, stop, background, idle, mode.limits)
        _end(loop, follower, stop, background, mode.limits)
    except StoppedError:
        return
    finally:
        if queries is not None:
            queries.end()
        mute_jvm()
        executor_pool.close()
        if refreshes is not None:
            refreshes.close()
        deliveries.close()
        systems.close()


@dataclass(slots=True)
class _BackgroundWork:
    """The deliveries and refreshes of a run, of whose troubles its observer is told as they come and go."""

    observer: RunObserver
    deliveries: OutboxDeliveries
    refreshes: TableRefreshes
    _refreshed: tuple[RefreshStatus, ...] = ()
    _statuses: tuple[DeliveryStatus, ...] = ()
    _hindered: tuple[str, ...] = ()

    def look(self) -> None:
        """Tell what is new; the failure of a delivery that cannot go on is raised."""
        if self.deliveries.failure is not None:
            raise _undeliverable(self.deliveries.failure)
        if self.refreshes.failure is not None:
            raise self.refreshes.failure
        if (refreshed := self.refreshes.statuses) != self._refreshed:
            self._refreshed = refreshed
            self.observer.tables_refreshed(refreshed)
        statuses = self.deliveries.statuses
        if statuses == self._statuses:
            return
        self._statuses = statuses
        self.observer.deliveries_progressed(statuses)
        hindered = tuple(status for status in statuses if status.is_hindered)
        reasons = tuple(f"{one.system} {one.is_full} {one.trouble}" for one in hindered)
        if reasons != self._hindered:
            self._hindered = reasons
            self.observer.deliveries_hindered(hindered)


def _progress_unless_stopped(observer: RunObserver, stop: SignalStop) -> Callable[[ImportProgress], None]:
    """Tells of imports; StoppedError within one when the run is to end, which abandons it."""

    def tell(progress: ImportProgress) -> None:
        observer.import_progressed(progress)
        if stop.is_set():
            raise StoppedError

    return tell


def open_app_systems(app: StreamApp, storage: AppStorage) -> Systems:
    """All systems of an app's streams; AppRefusedError where the settings of one are wrong."""
    systems = Systems(storage.systems)
    for index, system in enumerate(app.spec.systems):
        try:
            systems.check_settings(system.name)
        except InvalidSettingsError as error:
            systems.close()
            path = f"spec.systems[{index}].{system.kind}{'.configSecret' if system.config_secret else ''}"
            raise AppRefusedError([Problem(0, 0, path, str(error))]) from None
    return systems


def _prepare(deliveries: OutboxDeliveries) -> None:
    """Take over what outputs are delivered into; what is refused there is refused at each start."""
    try:
        deliveries.prepare()
    except (StateUnreadableError, RecordRefusedError, UnknownStreamError) as error:
        raise _undeliverable(error) from None


def _undeliverable(error: Exception) -> FinalFailureError:
    return FinalFailureError(f"an output cannot be delivered: {error}")


def _running(loop: Loop) -> tuple[StreamApp, SystemConnections]:
    """The app as it runs, also after an edit."""
    context = loop.launch.context
    return context.app, context.systems.connections


def _start(loop: Loop) -> None:
    """Begin a loop; what goes wrong may go well another time."""
    try:
        loop.start()
    except RETRIABLE as error:
        raise FailedError(f"the start failed: {error}") from error


def _serve(
    loop: Loop,
    follower: ModelFollower,
    stop: SignalStop,
    background: _BackgroundWork,
    idle: Callable[[], None],
    limits: RunLimits,
) -> None:
    """Batch after batch, until the end, until the limits or until told to stop."""
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
    loop.lanes.end_by = None if deadline is None else deadline + LAST_BATCH_SECONDS
    while not stop.is_set() and (deadline is None or time.monotonic() < deadline):
        loop.batches.note_step()
        if limits.until_end and loop.backlog.answering.silent_seconds > MOST_OUTAGE_SECONDS:
            raise FailedError(silent_systems_text(loop.backlog.answering.silent))
        follower.follow()
        background.look()
        batch = loop.step()
        if batch is not None:
            background.observer.batch_committed(batch)
            follower.report(batch)
            if loop.planner.ended:
                return
            if rest_seconds := loop.planner.rest_seconds:
                stop.wait(rest_seconds)
            continue
        if not loop.planner.behind if limits.until_end else loop.planner.idle:
            if limits.until_end and not follower.follow(now=True):
                return
            idle()
        loop.planner.await_input(stop.wait, stop.wake)


def _end(
    loop: Loop, follower: ModelFollower, stop: SignalStop, background: _BackgroundWork, limits: RunLimits
) -> None:
    """Settle all batches, deliver what is in outboxes where the run has an end, and say the last word."""
    loop.release()
    if limits.until_end:
        background.deliveries.drain(stop.is_set, stop.wait)
        background.look()
    follower.report(ended=True)
    if limits.until_end and not loop.planner.ended:
        background.observer.windows_left_open(open_windows(loop.launch, loop.planner.reached))
    loop.close_turn()


def _with_compaction(systems: Systems, idle: Callable[[], None]) -> Callable[[], None]:
    """Beside what else is done while there is nothing to read: large changelogs are compacted."""
    tidied_at = time.monotonic()

    def both() -> None:
        nonlocal tidied_at
        if time.monotonic() - tidied_at > TIDY_SECONDS:
            systems.tidy()
            tidied_at = time.monotonic()
        idle()

    return both
