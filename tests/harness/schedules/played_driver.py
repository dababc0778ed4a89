"""One driver of the app under a schedule: the real loop in a thread, one step at a time."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from streamapp.author.names import checkpoint_stream
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun, run_settings
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.failures import RETRIABLE, FailedError, FinalFailureError
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import AppStorage
from streamapp_runtime.driver.start.launch import launch
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.systems.connection import open_system
from streamapp_runtime.systems.stream_system import FencedError, StreamSystem
from tests.harness.engine.one_system import OneSystem
from tests.harness.runs.called_observer import CalledObserver
from tests.harness.schedules.fault_points import FaultPoint, FaultPoints, Participant
from tests.harness.schedules.threaded_executors import ThreadedExecutor
from tests.harness.schedules.threaded_hosting import ThreadedHosting
from tests.harness.schedules.watched_log import CommitHistory, watched_log

BATCH_ROWS = 4
PROCESSORS = 2


@dataclass(slots=True, eq=False)
class PlayedDriver:
    """A driver that a schedule moves."""

    number: int
    app: StreamApp
    storage: AppStorage
    points: FaultPoints
    history: CommitHistory
    take: Callable[[], ThreadedExecutor]
    independent: bool = False  # whether lanes do not wait for each other
    hosting: ThreadedHosting = field(init=False)
    loop: Loop | None = None
    error: Exception | None = None  # what ended it
    troubles: list[str] = field(default_factory=list)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    _work: "Future[None] | None" = None
    _system: StreamSystem | None = None

    def __post_init__(self) -> None:
        self.hosting = ThreadedHosting(self.number, self.points, self.take, self.stop)

    def stop(self, point: FaultPoint) -> None:
        """Suffer what the schedule has for this point."""
        if self.points.reached(Participant(self.number), point) is not None:
            self.points.sleep(self)

    @property
    def at_work(self) -> bool:
        """Whether it is within a step."""
        return self._work is not None and not self._work.done()

    @property
    def stuck(self) -> bool:
        """Whether it, or a lane that it waits for, sleeps."""
        if self.points.is_asleep(self):
            return True
        exchange = self.hosting.exchange
        if exchange is None:
            return False
        binding = exchange.binding
        asleep = any(self.points.is_asleep(lane) and not lane.lost for lane in binding.lanes.values())
        return exchange.running and asleep and binding.quiet

    @property
    def quiet(self) -> bool:
        """Whether nothing goes on here before somebody is woken, or it runs another step."""
        exchange = self.hosting.exchange
        if exchange is not None and exchange.binding.returning:
            return False  # else steps go by before a lane that is started again is there
        return (not self.at_work or self.stuck) and all(lane.quiet for lane in self.hosting.former)

    @property
    def behind(self) -> bool:
        """Whether there is anything to do."""
        return self.loop is None or self.loop.planner.behind

    def start(self) -> None:
        """Take over."""
        self._begin(self._start)

    def step(self, *, looks: bool = False) -> None:
        """Run one batch; `looks` has it look first whether another driver took over."""
        self._begin(lambda: self._step(looks=looks))

    def try_batch(self) -> None:
        """Run a batch of which nothing is committed, as the search for a bad record does."""
        self._begin(self._try)

    def settle(self) -> None:
        """Return when the step is over, or cannot go on before somebody is woken."""
        self.points.wait_until(lambda: self.quiet, f"the step of driver {self.number}")

    def end(self) -> None:
        """End its process."""
        self.hosting.end()
        self._pool.shutdown()
        if self._system is not None:
            self._system.close()

    def _begin(self, work: Callable[[], None]) -> None:
        if self.error is None and not self.at_work:
            self._work = self._pool.submit(self._guarded, work)
            self._work.add_done_callback(lambda _: self.points.note_change())
            self.settle()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (FailedError, FinalFailureError, FencedError, *RETRIABLE) as error:
            self.error = error
        except Exception as error:  # which no driver may come to
            self.error = error
            self.history.violations.append(f"driver {self.number} broke: {error!r}")

    def _start(self) -> None:
        self._system = open_system(self.storage.systems.of_home)
        system = watched_log(self._system, self.stop, self.history, of_lane=False)
        ledger = CheckpointStream(system, checkpoint_stream(self.app.application_id))
        context = AppContext(
            self.app,
            self.storage,
            OneSystem(system, self.app),
            ledger,
            load_user_functions(self.app),
        )
        spark = SparkOnDemand(_no_spark)
        ready = launch(context, spark, PROCESSORS)
        settings = replace(
            run_settings(self.app),
            batch_rows=BATCH_ROWS,
            batch_latency=0.0,
            independent_lanes=self.independent,
            rebalance_delay=0.0,
        )
        run = CurrentRun(ready, settings)
        loop = Loop(
            spark,
            run,
            self.hosting,
            pause=lambda _: None,
            observer=CalledObserver(batch_failed=self.troubles.append),
        )
        loop.start()
        self.loop = loop

    def _step(self, *, looks: bool) -> None:
        if self.loop is None:
            return
        self.loop._looked_at = float("-inf") if looks else time.monotonic()
        self.loop.lanes.supervisor._checked = float("-inf")
        self.loop.lanes.supervisor._start_at.clear()
        self.loop.step()

    def _try(self) -> None:
        loop = self.loop
        if loop is None:
            return
        loop.batches.await_lanes()
        if not loop.lanes.supervisor.bound or loop.lanes.supervisor.restoring:
            return
        pending = loop.backlog.pending(loop.backlog.positions())
        ranges = loop.planner.ranges_to_read(pending, frozenset())
        try:
            loop.trials.trial(ranges, loop.lanes.supervisor.exchange)
        except RETRIABLE as error:
            loop.disturbed(error)


def _no_spark(text: str) -> object:
    raise TypeError(f"the app needs Spark for {text!r}")
