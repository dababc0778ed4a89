"""A lane in its worker process: restore the stores, pass records through the operations, and commit.

What goes wrong in a batch is reported: a worker that raises is lost with all that it holds.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from streamapp_runtime.checkpoint import attempt_name
from streamapp_runtime.expressions.expression_client import ExpressionClient
from streamapp_runtime.incarnation import check_newest
from streamapp_runtime.lanes.batches.lane_batch import LaneBatch
from streamapp_runtime.lanes.batches.lane_commit import CommitResult
from streamapp_runtime.lanes.batches.lane_context import LaneContext
from streamapp_runtime.lanes.batches.lane_errors import EXPECTED_ERRORS, error_message, status_of
from streamapp_runtime.lanes.batches.lane_input import LaneInput
from streamapp_runtime.lanes.batches.step_beacon import StepBeacon
from streamapp_runtime.lanes.event_time.watermark_sender import has_ended
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders
from streamapp_runtime.lanes.protocol.executor_identity import executor_identity, location_of, oom_kills
from streamapp_runtime.lanes.protocol.lane_levels import LATENCY_MS
from streamapp_runtime.lanes.protocol.state_query import StateAnswer
from streamapp_runtime.lanes.protocol.task_report import EventTimeReport, TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.lanes.protocol.traffic import RESTORED_BYTES
from streamapp_runtime.lanes.task_stores.lane_snapshots import LaneSnapshots
from streamapp_runtime.lanes.task_stores.lane_stores import RESTORE_SECONDS
from streamapp_runtime.lanes.task_stores.state_usage import StateUsage, full_store_message
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.log_lines.line_labels import LINE_LABELS
from streamapp_runtime.operators.compilation.row_operations import EvaluateRows
from streamapp_runtime.program.program import Program
from streamapp_runtime.stores.directories import owned_stores as owned_by_app
from streamapp_runtime.stores.directories.state_directory import EVERY_TASK
from streamapp_runtime.stores.directories.store_cleanup import UnownedStore, remove_unowned_stores
from streamapp_runtime.stores.store import StoreError, StoreFullError

SETTLE_STEP = "settle"
"""The step in which stores are brought to where their checkpoints are."""


class LaneWorker:
    """A lane as it lives in a worker, from the first batch of an incarnation to the last."""

    def __init__(
        self, program: Program, setup: WorkerSetup, expressions: ExpressionClient | None = None
    ) -> None:
        self.context = LaneContext.open(program, setup, expressions or _prepared_client(program))
        self.executor_id, self.location = executor_identity(), location_of(Path(setup.state))
        self.cleared_stores = self._clear_unowned_stores()
        self.beacon, self.oom_kills = StepBeacon(self.context.systems.trouble), oom_kills()
        self.usage = StateUsage(Path(setup.state))
        self.snapshots = LaneSnapshots()

    def serve(self, orders: Orders, spark_attempt: int) -> list[TaskReport]:
        """Serve one batch, and report what became of each task."""
        lane = orders.lane
        if lane.executor_id not in {"", self.executor_id}:  # touch nothing: the stores here are another's
            message = f"{lane.processor} came to another executor than its own"
            return [TaskReport(task.name, TaskStatus.MISPLACED, message=message) for task in lane.tasks]
        batch = LaneBatch(
            self.context, orders, lane, attempt_name(orders.incarnation, orders.batch, spark_attempt)
        )
        names = [task.name for task in lane.tasks]
        with (
            LINE_LABELS.of_lane(lane.processor, names, lambda: batch.times.step),
            self.beacon.during(orders.steps_to, lane.processor, batch.times),
        ):
            return self._serve_batch(batch)

    def close(self) -> None:
        """Let go of everything; what is pending in stores is dropped."""
        self.beacon.close()
        self.snapshots.keep(())
        self.context.close()

    def _clear_unowned_stores(self) -> tuple[UnownedStore, ...]:
        """Take away stores of the app on this host that it does not own any more."""
        setup = self.context.setup
        owned = setup.owned
        if owned is None:
            return ()
        root = Path(setup.state)
        with suppress(OSError):  # another lane does the same just then
            owned_by_app.write_owned_stores(root, setup.application_id, owned)
            return tuple(remove_unowned_stores(root, setup.application_id, owned, time.time()))
        return ()

    def _serve_batch(self, batch: LaneBatch) -> list[TaskReport]:
        orders, lane = batch.orders, batch.lane
        for store in self.cleared_stores:
            batch.state.count("freedBytes", store.table, store.size)
        self.cleared_stores = ()
        with batch.times.of(SETTLE_STEP):
            self._restore_stores(batch, lane)
        batch.answers += self._answers(batch)
        self._guarded(batch, LaneInput(batch).read)
        self._guarded(batch, batch.finish)
        batch.note_pending()
        for level, name, number in self.usage.levels(self.context.stores_on_disk()):
            batch.state.set_level(level, name, number)
        if orders.release:
            self.context.release_stores()
        return self._task_reports(batch)

    def _restore_stores(self, batch: LaneBatch, lane: LaneOrder) -> None:
        """Bring the stores to their checkpoints; tasks whose stores are not there yet fail in this batch."""
        names = [task.name for task in lane.tasks]
        context = self.context
        context.lane_stores.release(names)
        context.side_input_stores.release([*names, EVERY_TASK])
        try:
            context.side_input_stores.share(lane.shared)
        except EXPECTED_ERRORS as error:
            batch.fail_lane(*self._failure(batch, error))
        deadline = time.monotonic() + RESTORE_SECONDS
        check = partial(
            check_newest, context.systems.home, context.setup.checkpoints, batch.orders.incarnation
        )
        for index, task in enumerate(lane.tasks):
            try:
                progress = context.lane_stores.restore(task, context.systems, deadline, check)
                contained = context.side_input_stores.restore(task, context.systems, check)
                batch.side_inputs.contained[index] = contained
            except EXPECTED_ERRORS as error:
                batch.fail_task(index, *self._failure(batch, error))
                continue
            batch.counts[index].restored += progress.restored
            batch.state.count(RESTORED_BYTES, "", progress.size)
            if progress.left:
                batch.fail_task(index, TaskStatus.RESTORING, f"{progress.left} changelog entries to go")

    def _answers(self, batch: LaneBatch) -> Iterator[StateAnswer]:
        """The answers of the stores to the queries of the lane, at the checkpoints of its order."""
        self.snapshots.keep(batch.lane.snapshots)
        indexes = {task.name: index for index, task in enumerate(batch.lane.tasks)}
        for query in batch.lane.queries:
            for task in query.tasks if self.context.has_store(query.table) else ():
                if failure := batch.failures.get(indexes[task]):
                    _, message = failure
                    yield StateAnswer(query.number, task, missing=message)
                    continue
                try:
                    yield self.snapshots.answer(query, task, self.context.store(task, query.table))
                except StoreError as error:
                    yield StateAnswer(query.number, task, missing=error.message)

    def _guarded(self, batch: LaneBatch, step: Callable[[], None]) -> None:
        """Take a step; what ends it early is reported for all tasks of the lane."""
        try:
            step()
        except EXPECTED_ERRORS as error:
            batch.fail_lane(*self._failure(batch, error))

    def _failure(self, batch: LaneBatch, error: Exception) -> tuple[TaskStatus, str]:
        setup = self.context.setup
        message = error_message(error, setup.checkpoints)
        if isinstance(error, StoreFullError):
            message = full_store_message(message, batch.lane.processor, Path(setup.state))
        return status_of(error), message

    def _task_reports(self, batch: LaneBatch) -> list[TaskReport]:
        """Commit, and say of each task what became of it; the lane's first task tells how long it took."""
        try:
            done = None if batch.orders.trial else batch.commit()
        except EXPECTED_ERRORS as error:
            batch.fail_lane(*self._failure(batch, error))
            done = None
        if done:
            now_ms = time.time_ns() // 1_000_000
            for stream, first_at in batch.first_at.items():
                batch.state.set_level(LATENCY_MS, stream, max(now_ms - first_at, 0))
        steps = batch.steps()
        done_status = TaskStatus.TRIED if batch.orders.trial else TaskStatus.COMMITTED
        reports = []
        for index, task in enumerate(batch.lane.tasks):
            status, message = batch.failures.get(index, (done_status, ""))
            checkpoint = done.checkpoints.get(index) if done else None
            counts = batch.counts[index]
            report = TaskReport(
                task=task.name,
                status=status,
                checkpoint=checkpoint.decode() if checkpoint else "",
                counted=batch.counted() if index == 0 else (),
                rows_in=counts.rows_in,
                rows_out=done.rows_out.get(index, 0) if done else 0,
                bytes_in=counts.bytes_in,
                restored=counts.restored,
                bad=counts.bad,
                message=message,
                steps=steps if index == 0 else (),
                paused_inputs=batch.side_inputs.paused_inputs.get(index, ()),
                location=self.location,
                published=batch.side_inputs.published if index == 0 else {},
                rejections=counts.rejections,
                oom_kills=self.oom_kills if index == 0 else None,
                failed_records=tuple(batch.failed_records) if index == 0 else (),
                answers=tuple(batch.answers) if index == 0 else (),
                contained={str(p): at for p, at in batch.side_inputs.contained.get(index, {}).items()},
                time=_time(batch, done, index),
            )
            reports.append(report)
        return reports


def _prepared_client(program: Program) -> ExpressionClient:
    """A client of the executor's server, which makes its programs while stores are restored."""
    client = ExpressionClient()
    operations = (task.operation for task in program.tasks)
    client.prepare([each for one in operations if isinstance(one, EvaluateRows) for each in one.programs])
    return client


def _time(batch: LaneBatch, done: CommitResult | None, index: int) -> EventTimeReport:
    time = batch.time
    if time is None or done is None or index not in done.reached:
        return EventTimeReport()
    setup, update, reached = time.setup, time.updates.get(index), done.reached[index]
    return EventTimeReport(
        watermarks=reached.watermarks,
        due=done.due[index],
        idle_at=update.idle_at if update else None,
        ended=has_ended(setup, batch.lane.tasks[index].name, reached),
    )
