"""What a driver that stands by gets ready: its program, its executors, and their stores.

A driver that works is ended for one that is ready. So it is ready once it has compiled the app, and its
executors are there or no node has room for them. Stores are restored as far as they can be until then.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Final

from streamapp.author.names import processor_names
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.executors.session_lanes import session_lanes
from streamapp_runtime.driver.failures import RETRIABLE
from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
from streamapp_runtime.driver.spark.spark_session import live_executors
from streamapp_runtime.driver.standby.standby_program import StandbyProgram, standby_program
from streamapp_runtime.driver.standby.standby_restore import restore_standby_stores
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.lanes.task_stores.lane_stores import RestoreProgress
from streamapp_runtime.systems.stream_system import UnknownStreamError
from streamapp_runtime.transport.message_transport import MessageTransport

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
            self.liveness.doing("compiles the app", COMPILE_SECONDS)
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
            self.liveness.doing("waits for executors", POLL_SECONDS)
            time.sleep(POLL_SECONDS)
        self.pool.start_workers(self.is_over, WORKER_SECONDS)

    def watching_executors(self) -> AbstractContextManager[None]:
        """Ask executors whether they answer, so that a driver that takes over begins with those that do."""
        context = self.pool.session.context
        return session_lanes(context).probe.throughout(lambda: live_executors(context), ASK_SECONDS)

    def restore(self) -> None:
        """Restore the stores of all tasks, until they have what the checkpoints have, or time is over."""
        deadline = time.monotonic() + RESTORE_LIMIT_SECONDS
        while not self.is_over() and time.monotonic() < deadline:
            self.liveness.doing("restores stores before it takes over", RESTORE_SECONDS)
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
        self.program = standby_program(self.context, self.pool.session, names)
        self._model_version = wanted.model.version if wanted and wanted.model else None

    def _wanted_count(self) -> int:
        """How many executors there are to be."""
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
                    self.pool.session,
                    self.locations,
                    self.program.setup(self.context),
                    self.program.lanes(self.context, model),
                    RESTORE_SECONDS,
                    self.is_over,
                )
        if not progress.left or not progress.restored:  # else there is more to do, and it goes on
            self._refreshed_at = time.monotonic()
        return progress
