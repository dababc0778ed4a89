"""The loop: orders out, reports back; after a failure everything again from checkpoints.

`batch_planner` says what is done next, `lane_batches` has it done, `recovery` knows what follows a failure,
and `trial_batches` look for records that are to blame.
"""

import time
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from typing import Final

from streamapp_runtime.driver import failures
from streamapp_runtime.driver.bad_records.bad_record_search import BadRecordSearch
from streamapp_runtime.driver.bad_records.search_watch import SearchProgress, SearchWatch
from streamapp_runtime.driver.batches.backlog import Backlog
from streamapp_runtime.driver.batches.batch_planner import BatchPlanner
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.hosted_lanes import HostedLanes
from streamapp_runtime.driver.batches.lane_batches import LaneBatches
from streamapp_runtime.driver.batches.recovery import BatchFailure, Recovery
from streamapp_runtime.driver.batches.retries import OutageNotes, OutageNotice
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.run_settings import CurrentRun, RunSettings
from streamapp_runtime.driver.batches.trial_batches import TrialBatches, record_key
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations, no_locations
from streamapp_runtime.driver.executors.lane_hosts import LaneHosting
from streamapp_runtime.driver.inputs.batch_pacing import LOOK_SECONDS
from streamapp_runtime.driver.inputs.batch_planning import NextStep
from streamapp_runtime.driver.inputs.bounded_turns import end_turn
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction, OpenTransactionWatch
from streamapp_runtime.driver.inputs.timers import Timers
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition, UnreadPartitionWatch
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.state_queries.state_queries import StateQueries
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.systems.answering_systems import AnsweringSystems, SilentSystem
from streamapp_runtime.systems.stream_system import FencedError, UnavailableError, UnknownStreamError

SUCCESSOR_SECONDS: Final = 5.0
"""How often a driver looks whether another one has taken over, busy or not."""


class LoopObserver:
    """Told of the events of a loop by the driver's own thread, between batches; does nothing by itself."""

    __slots__ = ()

    def batch_failed(self, why: str) -> None:
        """A batch failed, for this reason."""

    def outage(self, notice: OutageNotice) -> None:
        """The streams' system is away, or back. Any thread may say so."""

    def changed(self, change: RunChange) -> None:
        """Processors are missing or back, or run something else."""

    def side_inputs_awaited(self, streams: tuple[str, ...]) -> None:
        """The loop is idle, and these side inputs have no whole version yet."""

    def transactions_open(self, transactions: tuple[OpenTransaction, ...]) -> None:
        """These transactions have been open for long, in streams that are read."""

    def systems_unavailable(self, systems: tuple[SilentSystem, ...]) -> None:
        """These systems do not answer, and what is read of others continues; all do, where there are none."""

    def partitions_unread(self, partitions: tuple[UnreadPartition, ...]) -> None:
        """These partitions have been passed over for long."""

    def batch_slow(self, which: str) -> None:
        """A batch takes long. Said while the driver's thread waits for it."""

    def search_progressed(self, progress: SearchProgress) -> None:
        """A search for bad records is so far; said from time to time."""

    def step_started(self, text: str, seconds: float | None) -> None:
        """A step begins, which may take so many seconds; None where nothing bounds it."""


NO_OBSERVER: Final = LoopObserver()


@dataclass(slots=True)
class Loop:
    """One driver's batches, one after the other."""

    spark: InitVar[SparkSource]
    run: CurrentRun
    hosting: InitVar[LaneHosting | None] = None  # of its lanes; the session's executors where there is none
    clock: InitVar[Callable[[], int]] = lambda: time.time_ns() // 1_000_000
    pause: InitVar[Callable[[float], None]] = time.sleep
    is_stopped: InitVar[Callable[[], bool]] = lambda: False  # asked between two trials
    locations: InitVar[ExecutorLocations] = no_locations
    observer: InitVar[LoopObserver] = NO_OBSERVER
    outbox_is_full: InitVar[Callable[[], bool]] = lambda: False
    queries: StateQueries = field(default_factory=StateQueries)  # of the state, that lanes answer
    backlog: Backlog = field(init=False)
    bad_records: BadRecordSearch = field(init=False)
    lanes: HostedLanes = field(init=False)
    recovery: Recovery = field(init=False)
    planner: BatchPlanner = field(init=False)
    batches: LaneBatches = field(init=False)
    trials: TrialBatches = field(init=False)
    _looked_at: float = float("-inf")  # when it was looked last whether another driver has taken over

    def __post_init__(
        self,
        spark: SparkSource,
        hosting: LaneHosting | None,
        clock: Callable[[], int],
        pause: Callable[[float], None],
        is_stopped: Callable[[], bool],
        locations: ExecutorLocations,
        observer: LoopObserver,
        outbox_is_full: Callable[[], bool],
    ) -> None:
        self.backlog = backlog = Backlog(
            self.run,
            self.launch.context.now,
            data_lost=observer.batch_failed,
            answering=AnsweringSystems(observer.systems_unavailable),
            open_transactions=OpenTransactionWatch(changed=observer.transactions_open),
            unread=UnreadPartitionWatch(changed=observer.partitions_unread),
        )
        watch = SearchWatch(time.monotonic, is_stopped, observer.search_progressed)
        policies, key_of = self.launch.setup.rejection, lambda record: record_key(self.launch, record)
        self.bad_records = bad_records = BadRecordSearch(policies, key_of, watch)
        self.queries.begin(self.launch)
        outages = OutageNotes(time.monotonic, observer.outage)
        self.lanes = lanes = HostedLanes(
            spark,
            self.run,
            hosting=hosting,
            locations=locations,
            pause=pause,
            trouble=observer.batch_failed,
            changed=observer.changed,
            slow=observer.batch_slow,
            lane_waits=outages.lane_waits,
        )
        self.recovery = recovery = Recovery(lanes, backlog, bad_records, observer.batch_failed, outages)
        self.planner = BatchPlanner(
            lanes,
            backlog,
            self.queries,
            recovery.backoff,
            clock,
            unended=observer.side_inputs_awaited,
            outbox_is_full=outbox_is_full,
        )
        self.batches = LaneBatches(self.planner, recovery, bad_records, observer.step_started)
        self.trials = TrialBatches(self.batches)

    @property
    def launch(self) -> Launch:
        """The launch that runs."""
        return self.run.launch

    @property
    def ledger(self) -> CheckpointStream:
        """The app's checkpoint stream."""
        return self.launch.context.ledger

    def start(self) -> None:
        """Note how far tables have to be filled before they are joined."""
        self.backlog.start()

    def disturbed(self, error: Exception) -> None:
        """Start again after what happened to the driver between two batches, as after a batch that failed."""
        self.recovery.fail(BatchFailure(failures.failure_reason(error)))

    def edit(self, settings: RunSettings, launch: Launch) -> None:
        """Go on by another generation of the app, from the next batch on."""
        run = self.run
        lanes_before = run.launch.setup, run.settings.independent_lanes  # what lanes themselves go by
        run.settings = settings
        if (launch.setup, settings.independent_lanes) != lanes_before:
            self.switch(launch)
        else:
            self.run.launch = launch

    def switch(self, launch: Launch, renew: Callable[[], SparkSource | None] = lambda: None) -> None:
        """Run another model from the next batch on: end the lanes of this one, fence, and start again.

        `renew` may give another session in place of this one, once nothing is open any more. The records that
        are known as bad stay known, and so does how far tables had to be filled.
        """
        self.batches.release_lanes()
        spark = renew()
        bound = {} if spark is not None else self.lanes.supervisor.executors.bound
        if spark is not None:
            self.lanes.replace_spark(spark)
        self.run.launch = launch
        self.queries.begin(launch)
        self.backlog.renew()
        self.bad_records.forget_suspects()
        self.lanes.switch(bound)
        self.planner.timers = Timers()

    def step(self) -> BatchResult | None:
        """Run one batch; None where there was no more to do than to answer queries, or where it failed."""
        try:
            return self._try_step()
        except BaseException:
            self.lanes.abandon()
            raise

    def release(self) -> None:
        """End the lanes, so that the next start finds its stores as they should be, and readers all rows."""
        self.batches.release_lanes()
        self.backlog.await_visibility()

    def close_turn(self) -> None:
        """Note that a batch app came to its end, so that its next start is another turn."""
        if self.planner.ended and self.launch.turn is not None and self.launch.turn.number:
            end_turn(self.ledger, self.launch.turn)

    def _try_step(self) -> BatchResult | None:
        supervisor = self.lanes.supervisor
        try:
            if supervisor.bound and supervisor.stale():
                self.batches.release_lanes()
                supervisor.released()
            if self.bad_records.due(self.recovery.retries.failures):
                self.batches.bring_back_lanes()
                if not self.trials.search():
                    return None
            self.batches.bind_lanes()
            try:
                return self._step()
            except failures.RETRIABLE as error:
                self.recovery.recover(error, lost=supervisor.lost)
                return None
        except failures.RETRIABLE as error:
            self.recovery.recover(error)
            return None
        except FencedError as error:
            raise _replaced(error) from error
        except failures.FinalFailureError:
            self._raise_if_replaced()
            raise
        except UnknownStreamError as error:
            raise failures.FinalFailureError(f"a stream of the app no longer exists: {error}") from error

    def _step(self) -> BatchResult | None:
        """Run a batch with what may be read now; None where none is needed."""
        self._look_for_successor()
        self.backlog.side_inputs.follow(self.lanes.supervisor.lanes)
        positions = self.backlog.positions()
        pending = self.planner.pending(positions)
        self.recovery.looked()
        step, ranges = self.planner.next_step(positions, pending)
        if step is NextStep.HEAR:
            finished = self.lanes.runner.receive(LOOK_SECONDS)
            return self.batches.take([finished], pending) if finished else None
        batch = self.batches.run(self.lanes.runner, ranges, pending)
        if self.lanes.supervisor.bound and ranges:
            self.backlog.forget_read()
        return None if step is NextStep.ANSWER and not batch.rows_in and not batch.rows_out else batch

    def _raise_if_replaced(self) -> None:
        """FailedError where another driver took over: it may have cleared what this one was to read."""
        try:
            self.ledger.check()
        except FencedError as error:
            raise _replaced(error) from error
        except UnavailableError:
            return

    def _look_for_successor(self) -> None:
        """FencedError where another driver took over: at least once, no commit of a lane would be told so.

        A Spark that has ended, or a server of the lanes, ends the run also while there is nothing to do; a
        Spark that is stopped, which does not answer, lets no step end.
        """
        if time.monotonic() - self._looked_at > SUCCESSOR_SECONDS:
            self.ledger.check()
            if reason := self.lanes.end_reason:
                raise failures.FailedError(reason)
            self._looked_at = time.monotonic()


def _replaced(error: FencedError) -> failures.FailedError:
    return failures.FailedError(f"another driver runs this app: {error}")
