"""Looks at what there is to do for a run, and plans its next step and its rests by that."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from streamapp_runtime.driver.batches.backlog import Backlog
from streamapp_runtime.driver.batches.hosted_lanes import HostedLanes
from streamapp_runtime.driver.batches.retries import RemoteTableBackoff
from streamapp_runtime.driver.batches.side_input_progress import AwaitedVersions
from streamapp_runtime.driver.inputs.batch_budget import BatchBudget
from streamapp_runtime.driver.inputs.batch_pacing import BatchPacing
from streamapp_runtime.driver.inputs.batch_planning import (
    BatchDelays,
    BatchReasons,
    InputView,
    NextStep,
    TaskView,
    input_wait,
    next_step,
    plan_reads,
    rest_seconds,
)
from streamapp_runtime.driver.inputs.read_positions import ReadPositions
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.inputs.timers import Timers
from streamapp_runtime.driver.state_queries.state_queries import StateQueries
from streamapp_runtime.driver.wake_up import WakeUp
from streamapp_runtime.lanes.event_time.reached_watermarks import ReachedWatermarks
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.stream_system import UnavailableError, UnknownStreamError


@dataclass(slots=True)
class BatchPlanner:
    """The look of one driver at its inputs, its lanes and its clocks."""

    lanes: HostedLanes
    backlog: Backlog
    queries: StateQueries  # of the state, that lanes answer
    backoff: RemoteTableBackoff
    clock: Callable[[], int]  # milliseconds, as timers are set
    unended: Callable[[tuple[str, ...]], None]  # called with what idle tasks wait for
    outbox_is_full: Callable[[], bool]  # nothing is read then: outputs would have to wait, too
    budget: BatchBudget = field(default_factory=BatchBudget)
    pacing: BatchPacing = field(default_factory=lambda: BatchPacing(time.monotonic))
    timers: Timers = field(default_factory=Timers)
    awaited: tuple[str, ...] = ()  # side inputs without a version, for which rows have waited for long
    _awaited_versions: AwaitedVersions = field(default_factory=AwaitedVersions)
    _has_read_all: bool = False  # the last look found nothing to read
    _ended_at: float = 0.0  # when the last batch ended

    @property
    def behind(self) -> bool:
        """True if there is anything to read, to fix or to say, or a store to bring back."""
        return self._has_work(lambda: bool(self.backlog.pending(self.backlog.positions()) or self._silent))

    @property
    def idle(self) -> bool:
        """The opposite, by what the last step looked at."""
        return self._has_read_all and not self._has_work(lambda: False)

    @property
    def ended(self) -> bool:
        """True if all that the app reads has ended, and all that follows from it was done."""
        is_idle = self.lanes.supervisor.bound and not self.lanes.runner.lanes
        return is_idle and self.timers.all_ended(self.backlog.launch.partitions)

    @property
    def reached(self) -> ReachedWatermarks:
        """The watermarks that the app has reached."""
        return ReachedWatermarks.of(self.backlog.launch.setup.time, self.timers.task_watermarks)

    @property
    def rest_seconds(self) -> float:
        """The seconds without work after a batch: records that have come may wait so long."""
        has_more = (
            not self.lanes.supervisor.bound or self.needs_batch or self._is_asked or self.timers.pending
        )
        return rest_seconds(self._delays, has_more=has_more, order=self.backlog.launch.read_order)

    @property
    def look_seconds(self) -> float:
        """The seconds for which there is nothing to do after a look that found nothing to do."""
        return self._delays.look_seconds

    @property
    def needs_batch(self) -> bool:
        """True if a batch is needed even if there is nothing to read."""
        busy_tasks = self.lanes.runner.tasks
        restoring = self.lanes.supervisor.restoring - busy_tasks
        return bool(restoring) or self.backlog.side_inputs.pressing(busy_tasks)

    def pending(self, positions: ReadPositions) -> list[PendingRange]:
        """Everything that could be read now."""
        pending = self.backlog.pending(positions, self.lanes.runner.tasks)
        self._has_read_all = not pending and not self._silent
        return pending

    def next_step(
        self, positions: ReadPositions, pending: Sequence[PendingRange]
    ) -> tuple[NextStep, list[PendingRange]]:
        """The next step, and the ranges that a batch reads then."""
        if self.lanes.runner.lanes.issuperset(self.lanes.supervisor.lanes):
            return NextStep.HEAR, []
        waiting = self.backlog.waiting(positions)
        ranges = self.ranges_to_read(self.backlog.readable(pending, positions), waiting)
        reasons = BatchReasons(
            reads=bool(ranges),
            is_pressing=self.needs_batch,
            is_due=self.timers.ring(self.clock(), self.lanes.runner.tasks),
            is_asked=self._is_asked,
            idle_seconds=time.monotonic() - self._ended_at,
        )
        if not reasons.reads and not reasons.is_pressing:
            self.awaited = self._awaited_versions.note(self.backlog.side_inputs.unended)
            self.unended(self.awaited)
        return next_step(reasons), ranges

    def ranges_to_read(self, readable: Sequence[PendingRange], waiting: frozenset[str]) -> list[PendingRange]:
        """The readable ranges that the next batch reads; the rows of some tasks wait for their tables."""
        if self.outbox_is_full():
            return []
        settings, backlog, runner = self.backlog.run.settings, self.backlog, self.lanes.runner
        supervisor, side_inputs = self.lanes.supervisor, self.backlog.side_inputs
        view = InputView(
            readable,
            backlog.launch.read_order,
            self.budget.records(settings.batch_rows, settings.batch_bytes),
            waiting=waiting,
            filling=backlog.filling(waiting),
            endless=backlog.endless,
            stores=side_inputs.broadcast_tables.stores(),
            filled_last=side_inputs.filled_last,
        )
        tasks = TaskView(supervisor.tasks, supervisor.restoring, runner.tasks, self.backoff.paused())
        reads = plan_reads(view, tasks, self._delays)
        side_inputs.filled_last = reads.filling
        if reads.unread is not None:
            backlog.unread.look(reads.unread, tasks.busy)
        if reads.input_left is not None:
            self.pacing.input_left = reads.input_left
        return reads.ranges

    def note_start(self, ranges: Sequence[PendingRange], begun: float) -> None:
        """Note that a batch begins."""
        if ranges:
            own_streams = self.backlog.launch.read_order.priority
            reads_inputs = any(one.partition.stream not in own_streams for one in ranges)
            self.pacing.note_start(begun, reads_inputs=reads_inputs)
            self.awaited = self._awaited_versions.note(())

    def note(self, reports: Sequence[TaskReport], *, release: bool = False) -> None:
        """Take what reports say of the next batches: those of lanes that let go say nothing of time."""
        self._ended_at = time.monotonic()
        self.budget.note(reports)
        if not release:
            self.timers.note(reports)

    def keep_alive(self) -> None:
        """Have a batch although nothing has come, as an idle app has from time to time."""
        self._ended_at = float("-inf")

    def await_input(self, rest: Callable[[float], object], wake: WakeUp | None) -> None:
        """Let time pass after a look that found nothing to do, until `wake` is set or records come.

        While inputs wait, only records of the app's own streams end it. Where the streams' system cannot tell
        of records, it ends when they are to be looked for.
        """
        ring = self.timers.next_ring
        ring_seconds = None if ring is None else (ring - self.clock()) / 1000
        wait = input_wait(self._delays, ring_seconds, has_read_all=self._has_read_all)
        ends = self.backlog.own_ends if wait.own_streams_only else self.backlog.ends
        is_told = bool(ends) and not self.lanes.runner.lanes
        if not is_told or not self.backlog.systems.await_records(ends, wait.seconds, wake):
            rest(self.look_seconds)
        elif wake is not None:
            wake.clear()

    def _has_work(self, has_input: Callable[[], bool]) -> bool:
        """True if there is anything to do, input included."""
        is_bound, is_busy = self.lanes.supervisor.bound, bool(self.lanes.runner.lanes)
        if not is_bound or is_busy or self.needs_batch or self.timers.pending:
            return True
        try:
            # What was just written is looked for first, and what can be read then counts.
            return not self.backlog.settled() or has_input()
        except (UnavailableError, UnknownStreamError):
            return True  # the next step hears of it again, and says so

    @property
    def _silent(self) -> bool:
        """True while a system that is read does not answer: what there is to read in it is not known."""
        return bool(self.backlog.answering.silent)

    @property
    def _is_asked(self) -> bool:
        """True if a batch would answer queries of the state. That alone keeps no run from its end."""
        runner = self.lanes.runner
        idle_tasks = self.lanes.supervisor.tasks - runner.tasks
        return self.queries.wanted(idle_tasks, together=runner.together)

    @property
    def _delays(self) -> BatchDelays:
        """The delays of records, by the settings and by what batches have taken so far."""
        settings = self.backlog.run.settings
        return BatchDelays(
            self.pacing.wait_seconds(settings.batch_interval, settings.batch_latency),
            self.pacing.wait_for_interval(settings.batch_interval),
            self.pacing.look_seconds(settings.batch_latency),
        )
