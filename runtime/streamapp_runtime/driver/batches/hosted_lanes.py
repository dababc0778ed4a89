"""The lanes of a run where they work: opened for a model, bound to their hosts, watched while they work."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, assert_never

from pyspark import SparkContext

from streamapp_runtime.driver.batches.backlog import Backlog
from streamapp_runtime.driver.batches.batch_runner import BatchRunner, LaneRounds, LockStep
from streamapp_runtime.driver.batches.batch_watch import BatchWatch
from streamapp_runtime.driver.batches.lane_supervisor import LaneSupervisor
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.remembered_stores import RememberedStores
from streamapp_runtime.driver.executors.binding_states import (
    BindingEvent,
    BindingState,
    NextAction,
    next_state,
)
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations
from streamapp_runtime.driver.executors.lane_executors import LaneExecutors
from streamapp_runtime.driver.executors.lane_hosts import BatchWatcher, HostedModel, LaneHosting
from streamapp_runtime.driver.executors.resident_lanes import SHORT_LOSS_SECONDS
from streamapp_runtime.driver.executors.session_lanes import driver_address, session_lanes
from streamapp_runtime.driver.spark.spark_session import is_alive
from streamapp_runtime.expressions.spark_source import SparkSource

START_SECONDS: Final = 300.0
"""A batch without rows may take so long at least."""


@dataclass(frozen=True, slots=True)
class SparkHosting:
    """The executors of a session, or its own process where it has none."""

    spark: SparkContext

    def hosts(self, model: HostedModel) -> LaneExecutors:
        """The executors of a model's lanes."""
        return LaneExecutors(
            self.spark,
            program=model.program,
            setup=model.setup,
            pause=model.pause,
            bound=model.bound,
            store_locations=model.store_locations,
            locations=model.locations,
            loss_seconds=SHORT_LOSS_SECONDS if model.independent else None,
        )

    def watcher(self, slow: Callable[[str], None], waits: Callable[[str, str], None]) -> BatchWatch:
        """A watch over the jobs of the session, whose settings take a call to the JVM each to be read."""
        host, bind = driver_address(self.spark)
        look = session_lanes(self.spark).look_for_executors
        return BatchWatch(host, bind, self.spark.cancelAllJobs, slow, waits, look)

    @property
    def end_reason(self) -> str:
        """Why no batch can run any more: Spark's driver cannot be spoken to, or lanes get no orders."""
        return session_lanes(self.spark).server.end_reason if is_alive(self.spark) else "Spark has ended"


@dataclass(slots=True)
class HostedLanes:
    """The lanes of a run, one model after the other."""

    spark: SparkSource
    run: CurrentRun
    hosting: LaneHosting | None  # the session's executors where there is none
    locations: ExecutorLocations
    pause: Callable[[float], None]
    trouble: Callable[[str], None]  # called with why a lane that was lost does not come back
    changed: Callable[[RunChange], None]  # called when processors are missing, or back
    slow: Callable[[str], None]  # called from another thread while a batch takes long
    lane_waits: Callable[[str, str], None]  # called with a lane, and what the streams' system keeps it from
    stores: RememberedStores = field(init=False)
    supervisor: LaneSupervisor = field(init=False)
    watch: BatchWatcher = field(init=False)
    runner: BatchRunner = field(init=False)
    end_by: float | None = None  # when a batch that is still running is ended, as time.monotonic says

    def __post_init__(self) -> None:
        self.stores = RememberedStores(self.run.launch.context.ledger)
        self._new_watch()
        self._open_model({}, BindingState.UNBOUND)

    @property
    def end_reason(self) -> str:
        """Why no batch can run any more; empty while batches can."""
        return self._hosting.end_reason

    def replace_spark(self, spark: SparkSource) -> None:
        """Have lanes work in another session from the next model on."""
        self.spark, self.hosting = spark, None
        self._new_watch()

    def switch(self, bound: dict[str, str]) -> None:
        """Begin with all processors of another model; `bound` are executors that it may keep."""
        self._open_model(bound, next_state(self.supervisor.state, BindingEvent.SWITCHED))

    def bind(self, backlog: Backlog) -> None:
        """Bind lanes whose tasks are assigned: what may still be writing is fenced before that."""
        supervisor = self.supervisor
        while True:
            match supervisor.next_action:
                case NextAction.FENCE:
                    supervisor.fence()
                    if supervisor.bound:
                        backlog.read_anew(supervisor.lanes)
                        self.runner = self._new_runner()
                case NextAction.BIND:
                    backlog.read_anew(supervisor.lanes)
                    supervisor.bind()
                    self.runner = self._new_runner()
                case NextAction.RUN:
                    return
                case unknown:
                    assert_never(unknown)

    def abandon(self, error: BaseException | None = None) -> None:
        """Expect nothing of lanes that are at work; what a watch makes of the error takes its place."""
        runner, self.runner = self.runner, self.lock_step
        runner.abandon(error)

    @property
    def lock_step(self) -> LockStep:
        """The runner of a batch of all lanes together."""
        return LockStep(self.supervisor.exchange if self.supervisor.bound else None, self.watch)

    def batch_seconds(self, *, rows: bool) -> float | None:
        """The seconds that a batch may take. One without rows starts workers, and restores stores."""
        seconds = self.run.settings.batch_timeout
        return seconds if rows or seconds is None else max(seconds, START_SECONDS)

    def seconds_left(self, seconds: float | None) -> float | None:
        """The seconds left to a batch with this limit before the run has to end."""
        if self.end_by is None:
            return seconds
        left = max(self.end_by - time.monotonic(), 0.0)
        return left if seconds is None else min(seconds, left)

    @property
    def _hosting(self) -> LaneHosting:
        """The hosting of the lanes."""
        if self.hosting is None:
            if not isinstance(self.spark, SparkContext):
                raise TypeError("executors are those of a session that is there")
            self.hosting = SparkHosting(self.spark)
        return self.hosting

    def _new_watch(self) -> None:
        """Watch batches where lanes work."""
        self.watch = self._hosting.watcher(self.slow, self.lane_waits)

    def _new_runner(self) -> BatchRunner:
        """Rounds, where lanes need not wait for each other."""
        exchange = self.supervisor.independent_exchange
        return LaneRounds(exchange, self.watch) if exchange else self.lock_step

    def _open_model(self, bound: dict[str, str], state: BindingState) -> None:
        """Begin with all processors of the model; `bound` are the executors of the one before."""
        launch = self.run.launch
        # A batch that fills a table in turns is one in which no rows of its location are read.
        in_turns = any(table.takes_turns for table in launch.broadcasts)
        independent = self.run.settings.independent_lanes and len(launch.lanes) > 1 and not in_turns
        executors = self._hosting.hosts(
            HostedModel(
                program=launch.program,
                setup=launch.setup,
                pause=self.pause,
                bound=bound,
                store_locations=launch.locations,
                locations=self.locations,
                independent=independent,
            )
        )
        self.supervisor = LaneSupervisor(
            executors,
            run=self.run,
            stores=self.stores,
            changed=self.changed,
            trouble=self.trouble,
            independent=independent,
            state=state,
        )
        self.runner = self.lock_step
