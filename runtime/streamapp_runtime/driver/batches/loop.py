"""The loop: orders out, one Spark job, reports back; after a failure everything anew from checkpoints."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver import failures
from streamapp_runtime.driver.bad_records.bad_record_search import BadRecordSearch
from streamapp_runtime.driver.bad_records.expression_failures import RecordId, failing_records
from streamapp_runtime.driver.batches import retry
from streamapp_runtime.driver.batches.backlog import Backlog, RemainingInput
from streamapp_runtime.driver.batches.batch_result import BatchResult, batch_result
from streamapp_runtime.driver.batches.lane_orders import lane_orders
from streamapp_runtime.driver.batches.lane_supervisor import LaneSupervisor
from streamapp_runtime.driver.batches.outage import PAUSE_SECONDS, Outage, is_away
from streamapp_runtime.driver.batches.remote_table_backoff import RemoteTableBackoff
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.timers import Timers
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations, no_locations
from streamapp_runtime.driver.executors.lane_executors import LaneExecutors
from streamapp_runtime.driver.executors.spark_session import is_alive
from streamapp_runtime.driver.failures import failure_reason, is_process_loss
from streamapp_runtime.driver.inputs.batch_budget import BatchBudget
from streamapp_runtime.driver.inputs.bounded_turns import end_turn
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, allocate
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.lanes.protocol.batch_orders import ORDERS_PROPERTY, Orders
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.stream_system import (
    FencedError,
    StreamSystem,
    UnavailableError,
    UnknownStreamError,
)


@dataclass(slots=True)
class Loop:
    """One driver's batches, one after the other."""

    session: SparkSession
    system: StreamSystem
    ledger: CheckpointStream
    launch: Launch
    rows: int
    clock: Callable[[], int] = field(default=lambda: time.time_ns() // 1_000_000)
    pause: Callable[[float], None] = time.sleep
    trouble: Callable[[str], None] = lambda _: None  # hears why a batch failed
    changed: Callable[[RunChange], None] = lambda _: None  # hears when processors are missing, or back
    interval: float = 0.0  # seconds from the start of one batch to that of the next, at least
    first: float = retry.EXECUTOR_START_SECONDS  # how long executors are waited for at the start
    delay: float = 30.0  # seconds that tasks wait for a processor that is lost
    places: ExecutorLocations = no_locations
    number: int = 0
    failures: int = 0  # in a row
    manning: LaneSupervisor = field(init=False)
    backlog: Backlog = field(init=False)
    trials: BadRecordSearch = field(init=False)
    admission: BatchBudget = field(init=False)
    outage: Outage = field(default_factory=lambda: Outage(time.monotonic))
    timers: Timers = field(default_factory=Timers)
    patience: RemoteTableBackoff = field(default_factory=lambda: RemoteTableBackoff(time.monotonic))
    _frame: DataFrame | None = None  # None while there is something to mend
    _fence: bool = False  # whether what failed may still be writing
    _unready: frozenset[str] = frozenset()  # tasks whose stores are not yet at their checkpoints
    _last: float = 0.0  # when a batch ended
    _begun: float = float("-inf")  # when a batch with records began

    def __post_init__(self) -> None:
        self.backlog = Backlog(self.system, self.ledger, self.launch, heard=self.trouble)
        self.admission = BatchBudget(self.rows, self.launch.app.spec.batch.bytes)
        self.trials = BadRecordSearch(self.launch.setup.on_bad_record)
        self._engage({})

    def _engage(self, bound: dict[str, str]) -> None:
        """Begin with all processors of the model."""
        launch = self.launch
        crew = LaneExecutors(
            *(self.session, launch.program, launch.setup, self.pause),
            bound=bound,
            wanted=launch.locations,
            places=self.places,
        )
        self.manning = LaneSupervisor(crew, self.launch, self.first, self.delay, self.changed)
        self.timers = Timers()

    def disturbed(self, error: Exception) -> None:
        """Begin anew after what befell the driver between two batches, as after a batch that failed."""
        self._failed(failure_reason(error))

    def switch(self, launch: Launch, renew: Callable[[], SparkSession | None] = lambda: None) -> None:
        """Run another model from the next batch on: end the lanes of this one, fence, and begin anew.

        `renew` may give another session in place of this one, once nothing is open any more. The records that
        are known as bad stay known, and so does how far tables had to be filled.
        """
        self.release()
        session = renew()
        bound = {} if session else self.manning.crew.bound
        self.session = session or self.session
        self.launch = launch
        self.backlog = self.backlog.under(launch)
        self._frame, self._fence = None, True
        self._engage(bound)

    def start(self) -> None:
        """Note how far tables have to be filled before they are joined."""
        self.backlog.start()

    def step(self) -> BatchResult | None:
        """Run one batch; None where there is nothing to do, or where it failed and will be tried again."""
        try:
            if self._frame is not None and self.manning.stale():
                self.release()
                self._frame = None
            if self.trials.due(self.failures):
                self._search()
            return self._step(self._frame or self._mended())
        except FencedError as error:
            raise failures.FailedError(f"another driver runs this app: {error}") from error
        except UnknownStreamError as error:
            raise failures.FinalFailureError(f"a stream of the app is gone: {error}") from error
        except failures.RETRIABLE as error:
            self._failed(failure_reason(error), away=is_away(error))
            return None

    def release(self) -> None:
        """Settle and close the stores, so that the next start finds them as they should be."""
        if self._frame is not None:
            with suppress(*failures.RETRIABLE):  # what is not released now is restored at the next start
                self._run(self._frame, [], None, release=True)

    def close_turn(self) -> None:
        """Note that a batch app came to its end, so that its next start is another turn."""
        if self.ended and self.launch.turn is not None:
            end_turn(self.ledger, self.launch.turn)

    @property
    def behind(self) -> bool:
        """Whether there is anything to read, to mend or to say, or a store to bring back."""
        if self._frame is None or self._busy or self.timers.pending:
            return True
        try:
            # What was just written is looked for first, and what can be read then counts.
            return not self.backlog.settled() or bool(self.backlog.demands(self.backlog.positions()))
        except (UnavailableError, UnknownStreamError):
            return True  # the next step hears of it again, and says so

    @property
    def _busy(self) -> bool:
        return bool(self._unready) or self.backlog.fillings.pressing

    @property
    def ended(self) -> bool:
        """Whether all that the app reads has ended, and all that follows from it was done."""
        return self._frame is not None and self.timers.all_ended(self.launch.partitions)

    def _step(self, frame: DataFrame) -> BatchResult | None:
        positions = self.backlog.positions()
        found = self.backlog.demands(positions)
        waiting = self.backlog.waiting(positions)
        due = time.monotonic() - self._begun >= self.interval
        may = self.manning.tasks - self._unready - self.patience.held()
        able = [demand for demand in self.backlog.open(found, positions) if due and demand.task in may]
        turn = self.backlog.fillings.turn(able, waiting)
        waiting |= turn.waiting
        given = allocate(turn.demands, self.admission.budget(), self.launch.course, waiting)
        if not given and not self._busy:
            asleep = time.monotonic() - self._last > retry.KEEP_ALIVE_SECONDS
            if not asleep and not self.timers.ring(self.clock()):
                return None
            self.ledger.check()
        batch = self._run(frame, given, found)
        if self._frame is not None and given:
            self.backlog.forget_read()
        return batch

    def _run(
        self,
        frame: DataFrame,
        given: list[PendingRange],
        found: Sequence[PendingRange] | None,
        *,
        release: bool = False,
    ) -> BatchResult:
        self.number += 1
        orders = self._orders(given, release, found)
        begun = time.monotonic()
        self.trials.suspect(given)
        self._begun = begun if given else self._begun
        crash_point("driver.ordered")
        reports = self._collected(frame, orders)
        crash_point("driver.reported")
        self._last = time.monotonic()
        self.admission.heard(reports)
        if not release:  # who lets go of everything says nothing of time
            self.timers.note(reports)
        self._take(reports, frozenset(demand.task for demand in given))
        batch = batch_result(orders, reports, self._last - begun, len(self._unready), found or (), given)
        return replace(batch, watermarks=self.timers.watermarks(), filling=self.backlog.fillings.left)

    def _search(self) -> None:
        """Look for records that are to blame. Where none is found, the failures before count on."""
        before = self.failures
        try:
            for _ in self.trials.found(self._named, self._tried):
                before = 0
        finally:
            self.failures = before

    def _tried(self, given: Sequence[PendingRange]) -> str | None:
        """Why a batch fails; None where it does not. Nothing of it is committed."""
        reports = self._trial(given, self._ready())
        return reports if isinstance(reports, str) else failures.failure_of(reports)

    def _named(self, given: Sequence[PendingRange]) -> Mapping[RecordId, str]:
        """The records on which expressions fail."""
        self._ready()
        return failing_records(self.manning.crew, self.ledger.incarnation, partial(self._trial, given))

    def _ready(self) -> DataFrame:
        """What runs batches, once all tasks can work."""
        while self._frame is None or self._busy:
            self._run(self._frame or self._mended(), [], None)
        return self._frame

    def _trial(self, given: Sequence[PendingRange], frame: DataFrame) -> tuple[TaskReport, ...] | str:
        """What lanes say of a batch of which nothing is committed; why, where it fails."""
        self.number += 1
        try:
            return self._collected(frame, replace(self._orders(given), trial=True))
        except PySparkException as error:
            if is_process_loss(error):
                raise
            self._frame, self._fence = None, True
            return spark_message(error)

    def _collected(self, frame: DataFrame, orders: Orders) -> tuple[TaskReport, ...]:
        self.session.sparkContext.setLocalProperty(ORDERS_PROPERTY, orders.text())
        # An RDD is made once; a frame's own `collect` makes one each time, and a query that Spark tells of.
        return tuple(TaskReport.parse(row.report) for row in frame.rdd.collect())

    def _take(self, reports: tuple[TaskReport, ...], given: frozenset[str]) -> None:
        """Believe what was committed, and see to what was not."""
        self.backlog.fillings.hear(reports)
        for report in reports:
            if report.checkpoint:
                self.ledger.checkpoints[report.task] = report.checkpoint
                self.backlog.committed(report.task)
        failures.refuse_fatal(reports)
        self._unready = frozenset(report.task for report in reports if report.status == "restoring")
        waiting = {report.task: report.message for report in reports if report.status == failures.WAITING}
        if self.patience.note(waiting, given):
            self.trouble("; ".join(sorted(set(waiting.values()))))
        unwell = [report for report in reports if report.status not in {*failures.WELL, failures.WAITING}]
        if not unwell:
            # Without rows, or by rows that wait, nothing is proved of what failed on rows.
            if not waiting and (given or not self.trials.suspects):
                self.failures, self.trials.suspects = 0, ()
            self.outage.over(rows=bool(given))
            return
        why = "; ".join(sorted({f"{report.status}: {report.message}" for report in unwell}))
        # A lane that found itself in another's place did nothing, and all others have said what they did.
        fence = any(report.status != "misplaced" for report in unwell)
        away = all(report.status == "unavailable" for report in unwell)
        self._failed(why, fence=fence, away=away, rows=bool(given))

    def _failed(self, why: str, *, fence: bool = True, away: bool = False, rows: bool = False) -> None:
        """Have everything begun anew before the next batch."""
        self.failures += 0 if away else 1
        self.trouble(why)
        self._frame = None
        self._fence = self._fence or fence
        if away and not self.outage.endured(rows=rows):
            raise failures.FailedError(f"the streams' system has been out of reach for too long: {why}")
        if self.failures > failures.MOST_FAILURES:
            raise failures.FailedError(f"{self.failures} batches in a row failed, the last one with: {why}")
        if not is_alive(self.session):
            raise failures.FailedError(f"Spark has ended: {why}")

    def _mended(self) -> DataFrame:
        """Fence what may still be running, read what was committed, and begin with new workers."""
        if self.failures:
            self.pause(retry.retry_delay(self.failures))
        elif self.outage.since is not None:
            self.pause(PAUSE_SECONDS)
        self._fence |= self.manning.man()
        if self._fence:
            self.ledger.raise_incarnation()
            self._fence = False
        self._unready = self.manning.tasks
        self.backlog.read_anew(self.manning.lanes)
        self._frame = self.manning.assemble(self.ledger.incarnation)
        return self._frame

    def _orders(
        self,
        given: Sequence[PendingRange],
        release: bool = False,
        found: Sequence[PendingRange] | None = None,
    ) -> Orders:
        batch = f"{self.ledger.incarnation}-{self.number}"
        rest = RemainingInput() if found is None else self.backlog.remaining(found, given)
        lanes = lane_orders(self.backlog, self.manning.lanes, self.manning.crew.seats, given, batch, rest)
        skip = self.trials.known(given)
        return Orders(self.ledger.incarnation, self.number, self.clock(), lanes, release, skip)
