"""The batches of a run: orders out to the lanes that are idle, reports back, and what they say taken in."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver import failures
from streamapp_runtime.driver.bad_records.bad_record_search import BadRecordSearch
from streamapp_runtime.driver.bad_records.rejection_history import RejectionHistory
from streamapp_runtime.driver.batches.backlog import RemainingInput
from streamapp_runtime.driver.batches.batch_planner import BatchPlanner
from streamapp_runtime.driver.batches.batch_result import BatchResult, batch_result
from streamapp_runtime.driver.batches.batch_runner import BatchRunner, FinishedOrders, OrderedBatch
from streamapp_runtime.driver.batches.recovery import Recovery
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, ReadRange, TaskOrder
from streamapp_runtime.lanes.protocol.task_report import TaskReport

BIND_SECONDS: Final = 180.0
"""So long Spark may take to notice that an executor does not answer that lanes are bound to."""


@dataclass(slots=True)
class LaneBatches:
    """Numbers batches, has them run, and believes what was committed."""

    planner: BatchPlanner
    recovery: Recovery
    bad_records: BadRecordSearch
    doing: Callable[[str, float | None], None]  # called with a step, and how long it may take
    rejections: RejectionHistory = field(default_factory=RejectionHistory)
    number: int = 0  # of the last batch
    longest: float = 0.0  # so many seconds the longest batch took that ended by itself

    def run(
        self,
        runner: BatchRunner,
        ranges: Sequence[PendingRange] = (),
        pending: Sequence[PendingRange] | None = None,
        *,
        release: bool = False,
    ) -> BatchResult:
        """Give idle lanes their orders, and take what comes of those and of earlier ones."""
        lanes, orders = self.planner.lanes, self.orders(ranges, pending=pending, release=release)
        self.bad_records.begin((*runner.ranges, *ranges))
        self.planner.note_start(ranges, time.monotonic())
        crash_point("driver.ordered")
        seconds = lanes.batch_seconds(rows=bool(ranges))
        seconds = seconds if release else lanes.seconds_left(seconds)
        self.note_step(f"runs batch {orders.batch}", seconds)
        finished = runner.run(OrderedBatch(orders, ranges, pending or (), seconds))
        batch = self.take(finished, pending or (), release=release)
        if ranges:
            self.planner.pacing.note_end(time.monotonic())
        self.note_step()
        return batch

    def take(
        self,
        every_finished: Iterable[FinishedOrders],
        pending: Sequence[PendingRange] = (),
        *,
        release: bool = False,
    ) -> BatchResult:
        """Take what lanes report as it comes, until a failure has all of them start again."""
        lanes, backlog = self.planner.lanes, self.planner.backlog
        reports: list[TaskReport] = []
        ranges: list[PendingRange] = []
        seconds = 0.0
        for finished in every_finished:
            crash_point("driver.reported")
            self.bad_records.begin(finished.ranges)
            self._note(finished, release=release)
            reports += finished.reports
            ranges += finished.ranges
            seconds = max(seconds, finished.seconds)
            if not lanes.supervisor.bound:
                break
            if not lanes.runner.together:
                self.bad_records.begin(lanes.runner.ranges)
        restoring, incarnation = len(lanes.supervisor.restoring), backlog.ledger.incarnation
        batch = batch_result(self.number, incarnation, tuple(reports), seconds, restoring, pending, ranges)
        return replace(batch, reached=self.planner.reached, filling=backlog.side_inputs.left)

    def orders(
        self,
        ranges: Sequence[PendingRange] = (),
        *,
        pending: Sequence[PendingRange] | None = None,
        release: bool = False,
        trial: bool = False,
    ) -> Orders:
        """The orders of the next batch; none are given to lanes that are at work."""
        self.number += 1
        backlog, incarnation = self.planner.backlog, self.planner.backlog.ledger.incarnation
        supervisor, runner = self.planner.lanes.supervisor, self.planner.lanes.runner
        busy_lanes = runner.lanes
        lanes = {name: tasks for name, tasks in supervisor.lanes.items() if name not in busy_lanes}
        remaining = RemainingInput() if pending is None else backlog.remaining(pending, ranges)
        tasks = self._task_orders(lanes, ranges, remaining)
        broadcasts = backlog.side_inputs.broadcast_orders(lanes, f"{incarnation}-{self.number}", ranges)
        queries = self.planner.queries.orders(lanes, together=runner.together)
        orders = tuple(
            LaneOrder(
                processor,
                tuple(tasks[name] for name in lanes[processor]),
                supervisor.executors.executor_ids.get(processor, ""),
                broadcasts.get(processor, ()),
                queries.by_lane.get(processor, ()),
                queries.snapshots,
            )
            for processor in lanes
        )
        now, known = self.planner.clock(), self.bad_records.known(ranges)
        return Orders(incarnation, self.number, now, orders, release, known, trial)

    def note_step(self, step: str = "looks for records", seconds: float | None = 0.0) -> None:
        """Say what is done, or what outside of the app is waited for, and how long that may take."""
        awaited = ", ".join(self.planner.awaited)
        self.doing(self.recovery.awaited or (f"waits for {awaited}" if awaited else step), seconds)

    def bind_lanes(self) -> None:
        """Bind lanes where none are bound, some time after a failure."""
        lanes = self.planner.lanes
        if not lanes.supervisor.open:
            seconds = self.recovery.retries.pause_seconds()
            if seconds is not None:
                lanes.pause(seconds)
            self.note_step("assigns tasks to executors", lanes.run.settings.executor_start + BIND_SECONDS)
            lanes.supervisor.assign()
        lanes.bind(self.planner.backlog)

    def restore_lanes(self) -> None:
        """Return once all tasks can work."""
        lanes = self.planner.lanes
        while not lanes.supervisor.bound or self.planner.needs_batch:
            self.bind_lanes()
            self.run(lanes.lock_step)

    def await_lanes(self) -> None:
        """Return once no lane is at work; lanes are bound again where that fails."""
        try:
            while finished := self.planner.lanes.runner.receive():
                self.take([finished])
        except failures.RETRIABLE as error:
            self.recovery.recover(error)

    def bring_back_lanes(self) -> None:
        """Have all lanes bound anew where some were lost alone: a search asks those that have the records."""
        lanes = self.planner.lanes
        supervisor = lanes.supervisor
        if supervisor.open and supervisor.lanes != supervisor.assignment.assigned:
            self.await_lanes()
            lanes.abandon()
            supervisor.fail(fence=True)

    def release_lanes(self) -> None:
        """Settle and close the stores, and end the lanes."""
        self.await_lanes()
        lanes = self.planner.lanes
        if lanes.supervisor.bound:
            with suppress(*failures.RETRIABLE):  # what is not released now is restored at the next start
                self.run(lanes.lock_step, release=True)
                lanes.stores.note_closed(lanes.run.launch.setup.store_specs)
        if lanes.supervisor.open:
            lanes.supervisor.exchange.close()

    def _note(self, finished: FinishedOrders, *, release: bool) -> None:
        """Believe what was committed, and see to what was not."""
        reports, backlog = finished.reports, self.planner.backlog
        self.longest = max(self.longest, finished.seconds)
        self.planner.note(reports, release=release)
        backlog.side_inputs.note(reports)
        self.planner.queries.note(reports)
        self.rejections.note(reports)
        self.recovery.memory_kills.note(reports)
        for report in reports:
            if report.checkpoint:
                backlog.ledger.checkpoints[report.task] = report.checkpoint
                backlog.committed(report.task)
        failures.refuse_fatal(reports)
        self.planner.lanes.supervisor.note(reports)
        self.recovery.note(finished, release=release)

    def _task_orders(
        self, lanes: Lanes, ranges: Sequence[PendingRange], remaining: RemainingInput
    ) -> Mapping[str, TaskOrder]:
        """The order of each task of these lanes in a batch that reads these ranges."""
        backlog = self.planner.backlog
        checkpoints, side_partitions = backlog.ledger.checkpoints, backlog.side_partitions()
        unreported = backlog.side_inputs.unreported
        read_ranges = {task: list(spans.values()) for task, spans in unreported.items()}
        for one in sorted(ranges, key=lambda r: (r.partition, r.start)):
            read_range = ReadRange(one.partition.stream, one.partition.index, one.start, one.end)
            read_ranges.setdefault(one.task, []).append(read_range)
        changelog = backlog.launch.assignment.layout.changelog
        return {
            task: TaskOrder(
                task,
                changelog[task],
                checkpoints.get(task, ""),
                tuple(read_ranges.get(task, ())),
                side_partitions.get(task, ()),
                remaining.behind.get(task, ()),
                remaining.ended.get(task, ()),
                remaining.inherited.get(task, ""),
                self.rejections.of(task),
            )
            for tasks in lanes.values()
            for task in tasks
        }
