"""The warm-up of a driver that stands by: its program, its executors, and their stores.

A driver that works is ended for one that is ready. So it is ready once it has compiled the app, and its
executors are there or no node has room for them. Stores are restored as far as they can be until then.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from pyspark import SparkContext

from streamapp.author.names import processor_names
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.executors.binding import bind_executors
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.executors.lane_partitions import lane_elements
from streamapp_runtime.driver.executors.session_lanes import answering_executors, session_lanes
from streamapp_runtime.driver.failures import RETRIABLE
from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
from streamapp_runtime.driver.spark.background_job import BackgroundJob
from streamapp_runtime.driver.spark.spark_session import live_executors
from streamapp_runtime.driver.standby.standby_program import StandbyProgram, standby_program
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.lanes.batches.standby_lane import StandbySetup, packed_tasks, restore_standby_lane
from streamapp_runtime.lanes.protocol.batch_orders import TaskOrder
from streamapp_runtime.lanes.task_stores.lane_stores import RestoreProgress
from streamapp_runtime.systems.stream_system import UnknownStreamError
from streamapp_runtime.transport.message_transport import MessageTransport

PATIENCE_SECONDS: Final = 5.0
"""How much longer than it is told a job may take."""
TAKE_OVER_PATIENCE_SECONDS: Final = 0.5
"""The same once the driver is to take over. An executor that does not answer holds up nothing."""
_RESTORE_JOB: Final = "streamapp-restore"
"""The group of the Spark job in which executors restore stores."""


def restore_standby_stores(
    spark: SparkContext,
    locations: ExecutorLocations,
    setup: StandbySetup,
    lanes: Mapping[str, Sequence[TaskOrder]],
    seconds: float,
    is_over: Callable[[], bool],
) -> RestoreProgress:
    """Restore stores for so many seconds; `lanes` are the tasks of each processor.

    Those that are at work when `is_over` says that nothing more is wanted have the time to end.

    Executors get the lanes that they will be bound to. Where it turns out otherwise, a lane restores its
    stores as if nothing had been restored.
    """
    live = answering_executors(spark)
    bound = bind_executors({}, live, sorted(lanes), {}, locations(live))
    if not bound:
        return RestoreProgress()
    hosts = [(live[executor], executor) for executor in bound.values()]
    elements = lane_elements(spark, hosts, len(hosts), [packed_tasks(lanes[name]) for name in bound])
    job = elements.mapPartitionsWithIndex(partial(restore_standby_lane, setup, seconds))
    job.id()  # makes it, with the environment as it is now
    progress: list[RestoreProgress] = []
    run = BackgroundJob(
        spark, _RESTORE_JOB, "restore stores", lambda: progress.extend(one for _, one in job.collect())
    )
    least_end = time.monotonic() + seconds + TAKE_OVER_PATIENCE_SECONDS
    run.wait(seconds + PATIENCE_SECONDS, until=lambda: time.monotonic() >= least_end and is_over())
    return sum(progress, RestoreProgress())


POLL_SECONDS: Final = 0.05
COMPILE_SECONDS: Final = 1.0
"""After this time an app is compiled again whose systems do not answer."""
WORKER_SECONDS: Final = 60.0
"""How long the workers of executors are waited for."""
RESTORE_LIMIT_SECONDS: Final = 300.0
"""How long the driver that works is kept waiting for stores. What is left is restored beside it, and then."""
RESTORE_SECONDS: Final = 0.5
"""How long stores are restored until it is looked again whether the driver is to take over."""
ASK_SECONDS: Final = 2.0
"""How often executors are asked whether they are there, as the driver that works is."""
REFRESH_SECONDS: Final = 5.0
"""How often stores follow the checkpoints of the driver that works."""
_UNREADABLE: Final = (StateUnreadableError, UnknownStreamError)
_LEFT_FOR_LATER: Final = (AppRefusedError, *_UNREADABLE, *RETRIABLE)


@dataclass(slots=True)
class StandbyWarmUp:
    """The warm-up of one driver."""

    context: AppContext  # with a checkpoint stream of its own, which nobody opens
    pool: ExecutorPool
    locations: ExecutorLocations
    transport: MessageTransport
    liveness: DriverLiveness
    is_over: Callable[[], bool]  # whether the driver is to take over, or to end
    program: StandbyProgram | None = None
    _model_version: int | None = None  # that was wanted when the program was made
    _refreshed_at: float = float("-inf")

    def compile(self) -> None:
        """Plan and compile the app, as its streams are now; AppRefusedError where it cannot run.

        A system that does not answer is waited for. Where state cannot be read, the take-over says why.
        """
        while not self.is_over():
            self.liveness.step_started("compiles the app", COMPILE_SECONDS)
            with suppress(*RETRIABLE):
                with suppress(*_UNREADABLE):
                    self._compile()
                return
            time.sleep(COMPILE_SECONDS)

    def start_executors(self) -> None:
        """Ask for executors, and wait until they can work, or no node has room for them.

        What is wanted of the other driver says how many there are to be; the app, while nothing is wanted.
        """
        count = self._wanted_count()
        self.pool.request(count)
        while self.pool.present < count:
            if self.locations.unschedulable() or self.is_over():
                return
            self.liveness.step_started("waits for executors", POLL_SECONDS)
            time.sleep(POLL_SECONDS)
        self.pool.start_workers(self.is_over, WORKER_SECONDS)

    def watching_executors(self) -> AbstractContextManager[None]:
        """Ask executors whether they answer, so that a driver that takes over begins with those that do."""
        context = self.pool.spark
        return session_lanes(context).probe.throughout(lambda: live_executors(context), ASK_SECONDS)

    def restore(self) -> None:
        """Restore the stores of all tasks, until they have what the checkpoints have, or time is over."""
        deadline = time.monotonic() + RESTORE_LIMIT_SECONDS
        while not self.is_over() and time.monotonic() < deadline:
            self.liveness.step_started("restores stores before it takes over", RESTORE_SECONDS)
            progress = self._restore_once()
            if not progress.left or not progress.restored:
                return

    def refresh(self) -> None:
        """Have executors follow what is wanted, and stores the checkpoints, every now and then."""
        if time.monotonic() - self._refreshed_at >= REFRESH_SECONDS:
            with suppress(*_LEFT_FOR_LATER):
                self.pool.request(self._wanted_count())
            self._restore_once()

    def _compile(self) -> None:
        self.context.ledger.look()
        wanted, names = self.transport.wanted(), processor_names(self._wanted_count())
        self.program = standby_program(self.context, self.pool.spark, names)
        self._model_version = wanted.model.version if wanted and wanted.model else None

    def _wanted_count(self) -> int:
        """The number of executors that there are to be."""
        wanted = self.transport.wanted()
        return (wanted and wanted.processors) or self.context.app.spec.processors

    def _restore_once(self) -> RestoreProgress:
        progress = RestoreProgress()
        with suppress(*_LEFT_FOR_LATER):
            wanted, ledger = self.transport.wanted(), self.context.ledger
            ledger.look()
            model = wanted.model if wanted else None
            if model is not None and model.version != self._model_version:
                self._compile()
            if self.program is not None and model is not None and model.run_id == ledger.run_id:
                progress = restore_standby_stores(
                    self.pool.spark,
                    self.locations,
                    self.program.setup(self.context),
                    self.program.lanes(self.context, model),
                    RESTORE_SECONDS,
                    self.is_over,
                )
        if not progress.left or not progress.restored:  # else there is more to do, and it goes on
            self._refreshed_at = time.monotonic()
        return progress
