"""The loop: orders out, reports back; after a failure everything again from checkpoints.

What may be done with the lanes, and when, is in `binding_states`; the loop looks there before each batch.
Lanes that do not wait for each other are given batches in rounds (`lane_rounds`); others run each together.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, assert_never

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from streamapp.tasks.partition import Partition
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver import failures
from streamapp_runtime.driver.bad_records.bad_record_search import BadRecordSearch
from streamapp_runtime.driver.bad_records.bisection import TrialFailure
from streamapp_runtime.driver.bad_records.expression_failures import RecordId, failing_records
from streamapp_runtime.driver.bad_records.rejection_history import RejectionHistory
from streamapp_runtime.driver.bad_records.search_watch import (
    SearchProgress,
    SearchStoppedError,
    SearchTimeoutError,
    SearchWatch,
)
from streamapp_runtime.driver.batches.backlog import Backlog, RemainingInput
from streamapp_runtime.driver.batches.batch_result import BatchResult, batch_result
from streamapp_runtime.driver.batches.binding_states import BindingEvent, BindingState, NextAction, next_state
from streamapp_runtime.driver.batches.lane_orders import lane_orders
from streamapp_runtime.driver.batches.lane_rounds import FinishedOrders, LaneRounds
from streamapp_runtime.driver.batches.lane_supervisor import LaneSupervisor
from streamapp_runtime.driver.batches.remote_table_backoff import RemoteTableBackoff
from streamapp_runtime.driver.batches.retries import (
    MemoryKills,
    OutageNotes,
    OutageNotice,
    Retries,
    is_outage,
)
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.run_settings import CurrentRun, RunSettings
from streamapp_runtime.driver.batches.side_input_progress import AwaitedVersions
from streamapp_runtime.driver.batches.spark_hosting import SparkHosting
from streamapp_runtime.driver.batches.timers import Timers
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.remembered_stores import RememberedStores
from streamapp_runtime.driver.executors.batch_exchange import BatchExchange
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations, no_locations
from streamapp_runtime.driver.executors.lane_hosts import BatchWatcher, HostedModel, LaneHosting
from streamapp_runtime.driver.failures import BatchTimeoutError, failure_reason, is_process_loss
from streamapp_runtime.driver.inputs.batch_budget import BatchBudget
from streamapp_runtime.driver.inputs.batch_pacing import (
    LONGEST_LOOK_SECONDS,
    LONGEST_WAIT_SECONDS,
    LOOK_SECONDS,
    BatchPacing,
)
from streamapp_runtime.driver.inputs.bounded_turns import end_turn
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction, OpenTransactionWatch
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, allocate, within_back_pressure
from streamapp_runtime.driver.inputs.unread_partitions import (
    UnreadPartition,
    UnreadPartitionWatch,
    passed_over,
)
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.state_queries.state_queries import StateQueries
from streamapp_runtime.driver.status_rules import CAUSES, Reaction, is_of_lane_alone, reaction_to
from streamapp_runtime.driver.wake_up import WakeUp
from streamapp_runtime.expressions.spark_source import DeferredSession, SparkSource
from streamapp_runtime.lanes.protocol.batch_orders import Orders
from streamapp_runtime.lanes.protocol.rejections import RejectionCause
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.stream_system import (
    FencedError,
    OutOfRangeError,
    StreamSystem,
    UnavailableError,
    UnknownStreamError,
)

KEEP_ALIVE_SECONDS: Final = 20.0
"""Idle Python workers end after a minute, and what they hold with them."""
SUCCESSOR_SECONDS: Final = 5.0
"""How often a driver looks whether another one has taken over, busy or not."""

START_SECONDS: Final = 300.0
"""A batch without rows may take so long at least."""
BIND_SECONDS: Final = 180.0
"""So long Spark may take to notice that an executor does not answer that lanes are bound to."""
TRIAL_SECONDS: Final = 30.0
"""A part of a batch that is tried may take so long at least, and ten times as long as any batch before."""


@dataclass(slots=True)
class Loop:
    """One driver's batches, one after the other."""

    session: SparkSource
    run: CurrentRun
    hosting: LaneHosting | None = None  # of its lanes; the session's executors where there is none
    clock: Callable[[], int] = field(default=lambda: time.time_ns() // 1_000_000)
    pause: Callable[[float], None] = time.sleep
    trouble: Callable[[str], None] = lambda _: None  # called with the reason when a batch failed
    outage: Callable[[OutageNotice], None] = lambda _: None  # instead, while the streams' system is away
    changed: Callable[[RunChange], None] = lambda _: None  # called when processors are missing, or back
    unended: Callable[[tuple[str, ...]], None] = lambda _: None  # called with what idle tasks wait for
    held_up: Callable[[tuple[OpenTransaction, ...]], None] = lambda _: None  # with what keeps rows from it
    unread: Callable[[tuple[UnreadPartition, ...]], None] = lambda _: None  # with what it passes over
    slow: Callable[[str], None] = lambda _: None  # called from another thread while a batch takes long
    searching: Callable[[SearchProgress], None] = lambda _: None  # called while bad records are searched for
    is_stopped: Callable[[], bool] = lambda: False  # whether the run is to stop, asked between two trials
    doing: Callable[[str, float | None], None] = lambda *_: None  # a step, and how long it may take
    locations: ExecutorLocations = no_locations
    queries: StateQueries = field(default_factory=StateQueries)  # of the state, that lanes answer
    number: int = 0  # of the last batch
    awaited: tuple[str, ...] = ()  # side inputs without a version, for which rows have waited for long
    supervisor: LaneSupervisor = field(init=False)
    stores: RememberedStores = field(init=False)
    backlog: Backlog = field(init=False)
    bad_records: BadRecordSearch = field(init=False)
    rejections: RejectionHistory = field(default_factory=RejectionHistory)
    memory_kills: MemoryKills = field(default_factory=MemoryKills)
    budget: BatchBudget = field(default_factory=BatchBudget)
    pacing: BatchPacing = field(default_factory=lambda: BatchPacing(time.monotonic))
    retries: Retries = field(default_factory=lambda: Retries(time.monotonic))
    outages: OutageNotes = field(init=False)
    timers: Timers = field(default_factory=Timers)
    backoff: RemoteTableBackoff = field(default_factory=lambda: RemoteTableBackoff(time.monotonic))
    end_by: float | None = None  # when a batch that is still running is ended, as time.monotonic says
    _has_read_all: bool = False  # the last look found nothing to read
    _rounds: LaneRounds | None = None  # of lanes that do not wait; None where all run a batch together
    _awaited_versions: AwaitedVersions = field(default_factory=AwaitedVersions)
    _watch: BatchWatcher = field(init=False)
    _ended_at: float = 0.0  # when the last batch ended
    _looked_at: float = float("-inf")  # when it was looked last whether another driver has taken over
    _longest: float = 0.0  # so many seconds the longest batch took that ended by itself

    def __post_init__(self) -> None:
        self.backlog = Backlog(
            self.run,
            self.launch.context.now,
            data_lost=self.trouble,
            open_transactions=OpenTransactionWatch(changed=self.held_up),
            unread=UnreadPartitionWatch(changed=self.unread),
        )
        watch = SearchWatch(time.monotonic, self.is_stopped, self.searching)
        self.bad_records = BadRecordSearch(self.launch.setup.rejection, self._key_of, watch)
        self.stores = RememberedStores(self.ledger)
        self.queries.begin(self.launch)
        self.supervisor = self._new_supervisor({}, BindingState.UNBOUND)
        self.outages = OutageNotes(time.monotonic, self.outage)
        self._watch = self._new_watch()

    @property
    def launch(self) -> Launch:
        """What runs."""
        return self.run.launch

    @property
    def system(self) -> StreamSystem:
        """The system of the app's streams."""
        return self.launch.context.system

    @property
    def ledger(self) -> CheckpointStream:
        """The app's checkpoint stream."""
        return self.launch.context.ledger

    def disturbed(self, error: Exception) -> None:
        """Start again after what happened to the driver between two batches, as after a batch that failed."""
        self._fail(failure_reason(error))

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
        self._release_lanes()
        session = renew()
        bound = {} if session else self.supervisor.executors.bound
        if session:
            self.session, self.hosting = session, None
            self._watch = self._new_watch()
        self.run.launch = launch
        self.queries.begin(launch)
        self.backlog = self.backlog.renewed()
        self.bad_records.forget_suspects()
        self.supervisor = self._new_supervisor(
            bound, next_state(self.supervisor.state, BindingEvent.SWITCHED)
        )
        self.timers = Timers()

    def start(self) -> None:
        """Note how far tables have to be filled before they are joined."""
        self.backlog.start()

    def note_step(self) -> None:
        """Say that the loop continues, and what it waits for, if it waits for something."""
        self.doing(self._waiting or "looks for records", 0.0)

    def step(self) -> BatchResult | None:
        """Run one batch; None where there was no more to do than to answer queries, or where it failed."""
        try:
            return self._try_step()
        except BaseException:
            self._abandon_rounds()
            raise

    def _try_step(self) -> BatchResult | None:
        try:
            if self.supervisor.bound and self.supervisor.stale():
                self._release_lanes()
                self.supervisor.released()
            if self.bad_records.due(self.retries.failures):
                self._bring_back_lanes()
                if not self._search():
                    return None
            exchange = self._bound_exchange()
            try:
                return self._step(exchange)
            except failures.RETRIABLE as error:
                self._recover(error, lost=self.supervisor.lost)
                return None
        except failures.RETRIABLE as error:
            self._recover(error)
            return None
        except FencedError as error:
            raise _replaced(error) from error
        except failures.FinalFailureError:
            self._raise_if_replaced()
            raise
        except UnknownStreamError as error:
            raise failures.FinalFailureError(f"a stream of the app no longer exists: {error}") from error

    def release(self) -> None:
        """End the lanes, so that the next start finds its stores as they should be, and readers all rows."""
        self._release_lanes()
        self.backlog.await_sight()

    def _release_lanes(self) -> None:
        """Settle and close the stores, and end the lanes."""
        self._await_all_lanes()
        if self.supervisor.bound:
            with suppress(*failures.RETRIABLE):  # what is not released now is restored at the next start
                self._run_batch(self.supervisor.exchange, [], None, release=True)
                self.stores.note_closed(self.launch.setup.store_specs)
        if self.supervisor.open:
            self.supervisor.exchange.close()

    def close_turn(self) -> None:
        """Note that a batch app came to its end, so that its next start is another turn."""
        if self.ended and self.launch.turn is not None:
            end_turn(self.ledger, self.launch.turn)

    @property
    def behind(self) -> bool:
        """Whether there is anything to read, to fix or to say, or a store to bring back."""
        return self._has_work(lambda: bool(self.backlog.pending(self.backlog.positions())))

    @property
    def idle(self) -> bool:
        """The opposite, by what the last step looked at."""
        return self._has_read_all and not self._has_work(lambda: False)

    def await_input(self, rest: Callable[[float], object], wake: WakeUp | None) -> None:
        """Let time pass after a look that found nothing to do, until `wake` is set or records come.

        While inputs wait, only records of the app's own streams end it. Where the streams' system cannot tell
        of records, it ends when they are to be looked for.
        """
        seconds, ends = LONGEST_WAIT_SECONDS, self.backlog.ends
        if self.timers.next_ring is not None:
            seconds = min(seconds, (self.timers.next_ring - self.clock()) / 1000)
        if not self._has_read_all or self._wait_seconds():
            seconds, ends = min(seconds, self.look_seconds), self.backlog.own_ends
        is_told = bool(ends) and not self._busy_lanes
        if not is_told or not self.system.await_records(ends, seconds, wake):
            rest(self.look_seconds)
        elif wake is not None:
            wake.clear()

    @property
    def rest_seconds(self) -> float:
        """How long nothing has to be done after a batch: records that have come may wait so long."""
        if not self.supervisor.bound or self._needs_batch or self._is_asked or self.timers.pending:
            return 0.0
        if self.launch.read_order.priority:  # what was just written may be there to be read
            return 0.0
        return min(self._wait_seconds(), LONGEST_LOOK_SECONDS)

    @property
    def look_seconds(self) -> float:
        """How long there is nothing to do after a look that found nothing to do."""
        wait_seconds = self._wait_seconds() or self.pacing.look_seconds(self.run.settings.batch_latency)
        return min(wait_seconds, LONGEST_LOOK_SECONDS)

    @property
    def ended(self) -> bool:
        """Whether all that the app reads has ended, and all that follows from it was done."""
        is_idle = self.supervisor.bound and not self._busy_lanes
        return is_idle and self.timers.all_ended(self.launch.partitions)

    def _has_work(self, has_input: Callable[[], bool]) -> bool:
        """Whether there is anything to do, input included."""
        if not self.supervisor.bound or self._busy_lanes or self._needs_batch or self.timers.pending:
            return True
        try:
            # What was just written is looked for first, and what can be read then counts.
            return not self.backlog.settled() or has_input()
        except (UnavailableError, UnknownStreamError):
            return True  # the next step hears of it again, and says so

    @property
    def _hosting(self) -> LaneHosting:
        """Where lanes work."""
        if self.hosting is None:
            if not isinstance(self.session, DeferredSession):
                raise TypeError("executors are those of a session that is there")
            self.hosting = SparkHosting(self.session)
        return self.hosting

    @property
    def _needs_batch(self) -> bool:
        """Whether a batch is needed even if there is nothing to read."""
        busy_tasks = self._busy_tasks
        return bool(self.supervisor.restoring - busy_tasks) or self.backlog.side_inputs.pressing(busy_tasks)

    @property
    def _is_asked(self) -> bool:
        """Whether a batch would answer queries of the state. That alone keeps no run from its end."""
        idle_tasks = self.supervisor.tasks - self._busy_tasks
        return self.queries.wanted(idle_tasks, together=self._rounds is None)

    @property
    def _busy_lanes(self) -> frozenset[str]:
        """The processors of lanes that are at work between two steps."""
        return self._rounds.lanes if self._rounds else frozenset()

    @property
    def _busy_tasks(self) -> frozenset[str]:
        """The tasks of lanes that are at work between two steps."""
        return self._rounds.tasks if self._rounds else frozenset()

    def _new_watch(self) -> BatchWatcher:
        """What watches batches where lanes work."""
        return self._hosting.watcher(self.slow, self.outages.lane_waits)

    def _new_supervisor(self, bound: dict[str, str], state: BindingState) -> LaneSupervisor:
        """Begin with all processors of the model; `bound` are the executors of the one before."""
        launch = self.launch
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
        return LaneSupervisor(
            executors,
            run=self.run,
            stores=self.stores,
            changed=self.changed,
            trouble=self.trouble,
            independent=independent,
            state=state,
        )

    def _bound_exchange(self) -> BatchExchange:
        """What batches run, once lanes are bound: what may still be writing is fenced before that."""
        supervisor = self.supervisor
        if not supervisor.open:
            seconds = self.retries.pause_seconds()
            if seconds is not None:
                self.pause(seconds)
            seconds = self.run.settings.executor_start + BIND_SECONDS
            self.doing(self._waiting or "assigns tasks to executors", seconds)
            supervisor.assign()
        while True:
            match supervisor.next_action:
                case NextAction.FENCE:
                    supervisor.fence()
                    if supervisor.bound:
                        self.backlog.read_anew(supervisor.lanes)
                        self._rounds = self._new_rounds()
                case NextAction.BIND:
                    self.backlog.read_anew(supervisor.lanes)
                    supervisor.bind()
                    self._rounds = self._new_rounds()
                case NextAction.RUN:
                    return supervisor.exchange
                case unknown:
                    assert_never(unknown)

    def _step(self, exchange: BatchExchange) -> BatchResult | None:
        """Run a batch with what may be read now; None where none is needed."""
        self._look_for_successor()
        self.backlog.side_inputs.follow(self.supervisor.lanes)
        positions, busy_tasks = self.backlog.positions(), self._busy_tasks
        pending = self.backlog.pending(positions, busy_tasks)
        self._has_read_all = not pending
        if self.retries.outage.since is None:
            self.outages.looked()
        if self._busy_lanes.issuperset(self.supervisor.lanes):
            return self._hear(pending)
        waiting_tasks = self.backlog.waiting(positions)
        ranges = self._ranges_to_read(self.backlog.readable(pending, positions), waiting_tasks)
        only_asked = not ranges and not self._needs_batch
        if only_asked:
            self.awaited = self._awaited_versions.note(self.backlog.side_inputs.unended)
            self.unended(self.awaited)
            asleep = time.monotonic() - self._ended_at > KEEP_ALIVE_SECONDS
            only_asked = not self.timers.ring(self.clock(), busy_tasks) and not asleep
            if only_asked and not self._is_asked:
                return self._hear(pending)
        if self._rounds is None:
            batch = self._run_batch(exchange, ranges, pending)
        else:
            batch = self._run_round(self._rounds, ranges, pending)
        if self.supervisor.bound and ranges:
            self.backlog.forget_read()
        return None if only_asked and not batch.rows_in and not batch.rows_out else batch

    @property
    def _waiting(self) -> str:
        """What outside of the app is waited for; empty where nothing is."""
        if self.retries.outage.since is not None:
            return f"waits for the streams' system: {self.retries.outage.reason}"
        if self.backoff.tasks:
            return f"waits for a remote table: {self.backoff.reason}"
        return f"waits for {', '.join(self.awaited)}" if self.awaited else ""

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
            if reason := self._hosting.end_reason:
                raise failures.FailedError(reason)
            self._looked_at = time.monotonic()

    def _ranges_to_read(
        self, readable: Sequence[PendingRange], waiting_tasks: frozenset[str]
    ) -> list[PendingRange]:
        """What the next batch reads of all that may be read; the rows of some tasks wait for their tables."""
        settings, own_streams = self.run.settings, self.launch.read_order.priority
        inputs_wait = bool(self._wait_seconds())
        if self.pacing.wait_for_interval(settings.batch_interval):
            readable = ()
        elif inputs_wait:  # records of the app's own streams have waited on their way in
            readable = [one for one in readable if one.partition.stream in own_streams]
        busy_tasks = self._busy_tasks
        able_tasks = self.supervisor.tasks - self.supervisor.restoring - self.backoff.paused() - busy_tasks
        of_able_tasks = [one for one in readable if one.task in able_tasks]
        most = self.budget.records(settings.batch_rows, settings.batch_bytes)
        read_order = self.launch.read_order
        if busy_tasks:
            of_busy_tasks = [one for one in readable if one.task in busy_tasks]
            of_able_tasks = within_back_pressure(of_able_tasks, of_busy_tasks, most, read_order)
            readable = of_able_tasks
        turn = self.backlog.side_inputs.turn(of_able_tasks, waiting_tasks)
        ranges = allocate(turn.ranges, most, read_order, waiting_tasks | turn.waiting)
        if not inputs_wait:
            unread = passed_over(of_able_tasks, ranges, most, read_order, self.backlog.filling(waiting_tasks))
            endless = [one for one in self.backlog.endless if one.task in able_tasks]
            self.backlog.unread.look([*unread, *endless], busy_tasks)
        if ranges and not inputs_wait:
            self.pacing.input_left = sum(one.lag for one in ranges) < sum(one.lag for one in readable)
        return ranges

    def _wait_seconds(self) -> float:
        """How long records of inputs may wait."""
        settings = self.run.settings
        return self.pacing.wait_seconds(settings.batch_interval, settings.batch_latency)

    def _run_batch(
        self,
        exchange: BatchExchange,
        ranges: list[PendingRange],
        pending: Sequence[PendingRange] | None,
        *,
        release: bool = False,
    ) -> BatchResult:
        self.number += 1
        orders = self._orders(ranges, release, pending)
        begun = time.monotonic()
        self.bad_records.begin(ranges)
        self._note_start(ranges, begun)
        crash_point("driver.ordered")
        reports = self._reports_of(exchange, orders, self._timeout(rows=bool(ranges)))
        crash_point("driver.reported")
        seconds = time.monotonic() - begun
        lanes, pending = frozenset(lane.processor for lane in orders.lanes), pending or ()
        self._take(FinishedOrders(lanes, reports, tuple(ranges), pending, seconds), release=release)
        if ranges:
            self.pacing.note_end(self._ended_at)
        return self._result(orders.batch, reports, seconds, pending, ranges)

    def _run_round(
        self, rounds: LaneRounds, ranges: Sequence[PendingRange], pending: Sequence[PendingRange]
    ) -> BatchResult:
        """Give idle lanes their orders, and take what comes of those and of earlier ones."""
        self.number += 1
        orders = self._orders(ranges, pending=pending)
        begun, seconds = time.monotonic(), self._seconds_left(self._timeout(rows=bool(ranges)))
        self.bad_records.begin((*rounds.ranges, *ranges))
        self._note_start(ranges, begun)
        crash_point("driver.ordered")
        self.doing(self._waiting or f"runs batch {orders.batch}", seconds)
        watch = ExitStack()
        orders = replace(orders, steps_to=watch.enter_context(self._watch.over(orders.batch, seconds)))
        batch = self._take_finished(rounds.run(orders, ranges, pending, watch), pending)
        if ranges:
            self.pacing.note_end(time.monotonic())
        self.note_step()
        return batch

    def _hear(self, pending: Sequence[PendingRange]) -> BatchResult | None:
        """Take what a lane reports that is at work, while there is nothing to do for others."""
        finished = self._rounds.receive(LOOK_SECONDS) if self._rounds else None
        return self._take_finished([finished], pending) if finished else None

    def _take_finished(
        self, every_finished: Iterable[FinishedOrders], pending: Sequence[PendingRange]
    ) -> BatchResult:
        """Take what lanes report as it comes, until a failure has all of them start again."""
        reports: list[TaskReport] = []
        ranges: list[PendingRange] = []
        seconds = 0.0
        for finished in every_finished:
            crash_point("driver.reported")
            self.bad_records.begin(finished.ranges)
            self._take(finished)
            reports += finished.reports
            ranges += finished.ranges
            seconds = max(seconds, finished.seconds)
            if not self.supervisor.bound or self._rounds is None:
                break
            self.bad_records.begin(self._rounds.ranges)
        return self._result(self.number, tuple(reports), seconds, pending, ranges)

    def _await_all_lanes(self) -> None:
        """Return once no lane is at work; lanes are bound again where that fails."""
        try:
            while self._rounds is not None and (finished := self._rounds.receive()):
                self._take_finished([finished], ())
        except failures.RETRIABLE as error:
            self._recover(error)

    def _recover(self, error: Exception, lost: Collection[str] = ()) -> None:
        """Start again after what happened to a batch; where only some lanes are lost, without them.

        What a watch says of it goes before.
        """
        try:
            self._abandon_rounds(error)
        except failures.RETRIABLE as reason:
            error = reason
        is_over = isinstance(error, BatchTimeoutError)
        self._fail(self._reason(error), outage=is_outage(error), lost=() if is_over else lost)

    def _abandon_rounds(self, error: Exception | None = None) -> None:
        """Expect nothing of lanes that are at work."""
        rounds, self._rounds = self._rounds, None
        if rounds is not None:
            rounds.abandon(error)

    def _new_rounds(self) -> LaneRounds | None:
        """Rounds, where lanes need not wait for each other."""
        exchange = self.supervisor.independent_exchange
        return LaneRounds(exchange) if exchange else None

    def _note_start(self, ranges: Sequence[PendingRange], begun: float) -> None:
        """Note that a batch begins."""
        if ranges:
            own_streams = self.launch.read_order.priority
            reads_inputs = any(one.partition.stream not in own_streams for one in ranges)
            self.pacing.note_start(begun, reads_inputs=reads_inputs)
            self.awaited = self._awaited_versions.note(())

    def _result(
        self,
        number: int,
        reports: tuple[TaskReport, ...],
        seconds: float,
        pending: Sequence[PendingRange],
        ranges: Sequence[PendingRange],
    ) -> BatchResult:
        restoring, incarnation = len(self.supervisor.restoring), self.ledger.incarnation
        batch = batch_result(number, incarnation, reports, seconds, restoring, pending, ranges)
        return replace(batch, watermarks=self.timers.watermarks(), filling=self.backlog.side_inputs.left)

    def _take(self, finished: FinishedOrders, *, release: bool = False) -> None:
        """Believe what was committed, and see to what was not."""
        reports, reading_tasks = finished.reports, finished.reading_tasks
        self._ended_at = time.monotonic()
        self._longest = max(self._longest, finished.seconds)
        self.budget.note(reports)
        if not release:  # who lets go of everything says nothing of time
            self.timers.note(reports)
        self.backlog.side_inputs.note(reports)
        self.queries.note(reports)
        self.rejections.note(reports)
        self.memory_kills.note(reports)
        for report in reports:
            if report.checkpoint:
                self.ledger.checkpoints[report.task] = report.checkpoint
                self.backlog.committed(report.task)
        failures.refuse_fatal(reports)
        self.supervisor.note(reports)
        reactions = [(reaction_to(report.status), report) for report in reports]
        waiting = {report.task: report.message for reaction, report in reactions if reaction is Reaction.WAIT}
        if self.backoff.note(waiting, reading_tasks):
            self.trouble(self.backoff.reason)
        failed = [pair for pair in reactions if pair[0] not in {Reaction.CONTINUE, Reaction.WAIT}]
        if not failed:
            # Without rows, by others, or by rows that wait, nothing is proved of what failed on rows.
            proven = not waiting and self.bad_records.note_success(finished.pending)
            present, rows = self.supervisor.lanes.keys(), bool(reading_tasks)
            if self.retries.note_success(finished.lanes, present, rows=rows, proven=proven):
                self.memory_kills.recent = False
            if self.retries.outage.since is None:
                self.outages.succeeded(finished.lanes, present)
            if rows:
                self.supervisor.note_success(finished.lanes)
            return
        reason = "; ".join(sorted({f"{report.status}: {report.message}" for _, report in failed}))
        is_of_lane = all(is_of_lane_alone(report.status) for _, report in failed)
        if is_of_lane and not release and self.supervisor.can_dismiss(finished.lanes):
            self.trouble(reason)
            self.supervisor.dismiss(finished.lanes)
            self.backlog.side_inputs.follow(self.supervisor.lanes)
            return
        # A lane that found itself in another's place did nothing, and all others have said what they did.
        fence = bool(self._busy_lanes) or any(reaction is not Reaction.BIND_AGAIN for reaction, _ in failed)
        outage = all(reaction is Reaction.OUTLAST for reaction, _ in failed)
        self._fail(reason, fence=fence, outage=outage, rows=bool(reading_tasks), lanes=finished.lanes)

    def _fail(
        self,
        reason: str,
        *,
        fence: bool = True,
        outage: bool = False,
        rows: bool = False,
        lanes: Collection[str] = (),
        lost: Collection[str] = (),
    ) -> None:
        """Have everything started again before the next batch, or without the lanes that are lost.

        `lanes` have failed, where it is known which.
        """
        self._abandon_rounds()
        if outage:
            self.outages.failed(reason)
        else:
            self.trouble(reason)
        self.bad_records.note_failure()
        failing_lanes = lanes or lost or self.supervisor.lanes
        if lost:
            self.supervisor.lose(lost)
        else:
            self.supervisor.fail(fence=fence)
        self.retries.note_failure(reason, failing_lanes, outage=outage, rows=rows)
        if end_reason := self._hosting.end_reason:
            raise failures.FailedError(f"{end_reason}: {reason}")

    def _reason(self, error: Exception) -> str:
        """What a failure says, and what is known of memory beside it."""
        return failure_reason(error, out_of_memory=self.memory_kills.recent)

    def _bring_back_lanes(self) -> None:
        """Have all lanes bound anew where some were lost alone: a search asks those that have the records."""
        if self.supervisor.open and self.supervisor.lanes != self.supervisor.assignment.assigned:
            self._await_all_lanes()
            self._abandon_rounds()
            self.supervisor.fail(fence=True)

    def _search(self) -> bool:
        """Look for records that are to blame, and say whether the run goes on.

        Where none is found, the failures before count on; FailedError where there was no time for it.
        """
        before = self.retries.failures
        self._await_all_lanes()
        try:
            for _ in self.bad_records.search(self._records_that_fail, self._trial_failure):
                before = 0
        except SearchStoppedError:
            return False
        except SearchTimeoutError as error:
            if before:
                raise failures.FailedError(
                    f"a batch fails, and no record to blame was found: {error}"
                ) from None
        finally:
            self.retries.failures = before
        return True

    def _records_that_fail(self, ranges: Sequence[PendingRange]) -> Mapping[RecordId, str]:
        """The records on which expressions fail."""
        exchange = self._exchange_of_restored_lanes()
        trial = partial(self._trial, ranges)
        return failing_records(self.supervisor.executors, exchange, self.ledger.incarnation, trial)

    def _trial_failure(self, ranges: Sequence[PendingRange]) -> TrialFailure | None:
        """How a batch fails; None where it does not. Nothing of it is committed."""
        reports = self._trial(ranges, self._exchange_of_restored_lanes())
        if isinstance(reports, TrialFailure):
            return reports
        report = failures.failed_report(reports)
        if report is None:
            return None
        return TrialFailure(report.message, CAUSES.get(report.status, RejectionCause.RECORD))

    def _key_of(self, record: RecordId) -> bytes | None:
        """A record's key; None where it has none, or is gone."""
        stream, index, offset = record
        partition = Partition(self.launch.topics.get(stream, stream), index)
        try:
            batches = self.system.read(partition, offset, offset + 1)
            keys = [key for batch in batches for key in batch.column("key").to_pylist()]
        except (OutOfRangeError, UnavailableError, UnknownStreamError):
            return None
        return keys[0] if keys else None

    def _exchange_of_restored_lanes(self) -> BatchExchange:
        """What runs batches, once all tasks can work."""
        while not self.supervisor.bound or self._needs_batch:
            self._run_batch(self._bound_exchange(), [], None)
        return self.supervisor.exchange

    def _trial(
        self, ranges: Sequence[PendingRange], exchange: BatchExchange
    ) -> tuple[TaskReport, ...] | TrialFailure:
        """What lanes report of a batch of which nothing is committed; how it fails, where it does."""
        self.number += 1
        timeout = self.run.settings.batch_timeout
        seconds = timeout and min(timeout, max(TRIAL_SECONDS, 10 * self._longest))
        try:
            return self._reports_of(exchange, replace(self._orders(ranges), trial=True), seconds)
        except BatchTimeoutError as error:
            if self.end_by is not None and time.monotonic() >= self.end_by:
                raise  # which says nothing of the records
            failure = TrialFailure(str(error), RejectionCause.CODE, doubtful=True)
        except (PySparkException, Py4JError) as error:
            if is_process_loss(error) and not self._hosting.end_reason:
                failure = TrialFailure(self._reason(error), RejectionCause.CODE, doubtful=True)
            elif isinstance(error, PySparkException):
                failure = TrialFailure(self._reason(error))
            else:
                raise
        self.supervisor.fail(fence=True)
        return failure

    def _timeout(self, *, rows: bool) -> float | None:
        """How long a batch may take. One without rows starts workers, and restores stores."""
        seconds = self.run.settings.batch_timeout
        return seconds if rows or seconds is None else max(seconds, START_SECONDS)

    def _reports_of(
        self, exchange: BatchExchange, orders: Orders, seconds: float | None
    ) -> tuple[TaskReport, ...]:
        """Run a batch, for so many seconds at most; BatchTimeoutError where it takes longer."""
        if not orders.release:
            seconds = self._seconds_left(seconds)
        step = "searches for bad records in" if orders.trial else "runs"
        self.doing(self._waiting or f"{step} batch {orders.batch}", seconds)
        with self._watch.over(orders.batch, seconds) as address:
            reports = exchange.run(replace(orders, steps_to=address))
        self.note_step()
        return reports

    def _seconds_left(self, seconds: float | None) -> float | None:
        """How long a batch that may take so long may take before the run has to end."""
        if self.end_by is None:
            return seconds
        left = max(self.end_by - time.monotonic(), 0.0)
        return left if seconds is None else min(seconds, left)

    def _orders(
        self,
        ranges: Sequence[PendingRange],
        release: bool = False,
        pending: Sequence[PendingRange] | None = None,
    ) -> Orders:
        """The orders of all lanes that are idle."""
        batch = f"{self.ledger.incarnation}-{self.number}"
        remaining = RemainingInput() if pending is None else self.backlog.remaining(pending, ranges)
        busy_lanes, executor_ids = self._busy_lanes, self.supervisor.executors.executor_ids
        lanes = {name: tasks for name, tasks in self.supervisor.lanes.items() if name not in busy_lanes}
        orders = lane_orders(
            self.backlog,
            lanes,
            executor_ids=executor_ids,
            ranges=ranges,
            batch=batch,
            remaining=remaining,
            rejections=self.rejections,
            queries=self.queries.orders(lanes, together=self._rounds is None),
        )
        skip = self.bad_records.known(ranges)
        return Orders(self.ledger.incarnation, self.number, self.clock(), orders, release, skip)


def _replaced(error: FencedError) -> failures.FailedError:
    return failures.FailedError(f"another driver runs this app: {error}")
