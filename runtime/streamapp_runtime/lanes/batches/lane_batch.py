"""One batch of a lane: rows go to the operations that read their edge, and what comes of them goes on."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.lanes.batches.lane_commit import CommitResult, LaneCommit
from streamapp_runtime.lanes.batches.lane_context import LaneContext
from streamapp_runtime.lanes.batches.side_input_arrivals import SideInputArrivals
from streamapp_runtime.lanes.batches.step_times import QUOTA_STEP, StepTimes
from streamapp_runtime.lanes.event_time.lane_event_time import LaneEventTime
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, ReadRange
from streamapp_runtime.lanes.protocol.failed_records import MOST_FAILED_RECORDS, FailedRecord
from streamapp_runtime.lanes.protocol.rejections import RejectionCause, RejectionReport
from streamapp_runtime.lanes.protocol.state_query import StateAnswer
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord, dead_letters
from streamapp_runtime.lanes.records.key_check import misplaced_keys
from streamapp_runtime.lanes.records.late_rows import late_row_records as late_letters
from streamapp_runtime.lanes.records.record_collector import RecordCollector
from streamapp_runtime.lanes.records.record_reader import reread_records, with_headers
from streamapp_runtime.operators.state.changelog_buffer import ChangelogBuffer
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.program.program import PlacedOperation, RowEdge
from streamapp_runtime.rows.slice import Slice, blank_slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task
from streamapp_runtime.stores.store import Store

COMMIT_STEP = "commit"
"""A step beside the operators: outputs encoded and written."""


@dataclass(slots=True)
class TaskCounts:
    """The records of one task in a batch, by number and size."""

    rows_in: int = 0
    bytes_in: int = 0
    restored: int = 0  # changelog entries replayed into stores
    bad: int = 0  # records set aside
    rejections: RejectionReport = field(default_factory=RejectionReport)


class LaneBatch:
    """The rows of one batch on their way through a lane, and what is noted meanwhile."""

    def __init__(self, context: LaneContext, orders: Orders, lane: LaneOrder, attempt: str) -> None:
        self.context, self.orders, self.lane, self.attempt = context, orders, lane, attempt
        self.ranges = [(index, one) for index, task in enumerate(lane.tasks) for one in task.ranges]
        self.failures: dict[int, tuple[TaskStatus, str]] = {}  # by task
        self.first_at: dict[str, int] = {}  # by input, the oldest timestamp of the first record of a range
        self.counts: defaultdict[int, TaskCounts] = defaultdict(TaskCounts)  # by task
        self.rejected_rows: list[RejectedRecord] = []  # by operations, and not counted yet
        self.side_inputs = SideInputArrivals(context.side_input_stores)
        self.changes = ChangelogBuffer()
        self.outbox = RecordCollector(context.formats, context.setup.partitions, orders.time_ms)
        for remote in context.remotes.values():
            remote.begin()
        event_time = None if orders.release else context.setup.time
        self.time = (
            LaneEventTime(event_time, lane, orders.time_ms, context.bookkeeping_cache) if event_time else None
        )
        self.state = LaneState(
            self._store,
            context.schemas,
            tasks=len(lane.tasks),
            time_ms=orders.time_ms,
            remotes=context.remotes,
            fill=self._fill,
            filled=context.side_input_stores.specs,
            clock=self.time.clock if self.time else None,
        )
        self.state.expressions = context.expressions
        self.state.misplaced = self._misplaced_keys
        self.state.ends_at_bad = context.setup.rejection[RejectionCause.RECORD].action == "fail"
        self.times = StepTimes()
        self._throttled_before = context.systems.throttled_seconds()
        self.failed_records: list[FailedRecord] = []  # on which an expression failed
        self.answers: list[StateAnswer] = []  # to what the lane was asked of its state
        self._touched: set[tuple[int, str]] = set()

    def finish(self) -> None:
        """The end of the batch, when all rows have come: the last work of operations, and their changes."""
        rows: dict[int, Slice] = {}
        self.state.tasks = [index for index in range(len(self.lane.tasks)) if index not in self.failures]
        for task in () if self.orders.release else self.context.tasks:
            # What an operation has put out in the end is taken up by the next one before its own end.
            self._execute(task, rows)
            if task.name in self.context.executors:
                with self.times.of(task.name):
                    rows_out = self.context.executors[task.name].finish_batch(self.state)
                self._hand_on(task, rows_out, rows)
        self._send_late_rows()
        self._take_failed_rows()
        if self.orders.trial or self.orders.release or self.failed_records:
            self.context.side_input_stores.drop()
        else:
            self.side_inputs.apply(self.lane, self.state.tasks)
        for change in self.state.changes.drain():
            self.changes.add(change.task, change.name, change.keys, change.values)

    def fail_task(self, task: int, status: TaskStatus, message: str) -> None:
        """Note that a task cannot go on; the first reason counts."""
        self.failures.setdefault(task, (status, message))

    def fail_lane(self, status: TaskStatus, message: str) -> None:
        """Note that the whole lane cannot go on."""
        for index in range(len(self.lane.tasks)):
            self.fail_task(index, status, message)

    def note_pending(self) -> None:
        """Name the writes that now wait in stores after this attempt."""
        for task, name in self._touched:
            self.context.lane_stores.note_pending(self.lane.tasks[task].name, name, self.attempt)

    def steps(self) -> tuple[tuple[str, float], ...]:
        """The seconds of each step, with those for which quotas kept calls within others."""
        for system, seconds in self.context.systems.throttled_seconds().items():
            if throttled := seconds - self._throttled_before.get(system, 0.0):
                self.times.add(QUOTA_STEP + system, throttled)
        return tuple(self.times.by_step().items())

    def counted(self) -> tuple[tuple[str, str, int], ...]:
        """The counts of the lane's operations."""
        return tuple((counter, name, number) for (counter, name), number in self.state.counted.items())

    def commit(self) -> CommitResult:
        """Write everything of the tasks that did not fail, as one transaction."""
        setup = self.context.setup
        contained = self.side_inputs.contained
        lane_commit = LaneCommit(
            self.orders,
            self.lane,
            self.attempt,
            self.outbox,
            self.changes,
            frozenset(self.failures),
            setup.store_specs,
            setup.run_id,
            setup.checkpoints,
            self.context.read_streams,
            {self.lane.tasks[index].name: positions for index, positions in contained.items()},
            self.time,
            setup.delivery,
        )
        with self.times.of(COMMIT_STEP):
            result = lane_commit.commit(self.context.systems)
        for counter, stream, number in result.traffic.counted():
            self.state.count(counter, stream, number)
        return result

    def run(self, rows: dict[int, Slice]) -> None:
        """Run every operation that has rows on its edges, in their order."""
        for task in self.context.tasks:
            self._execute(task, rows)
        self._set_aside_rejected()
        self._send_late_rows()

    def _execute(self, task: PlacedOperation, rows: dict[int, Slice]) -> None:
        """Let an operation take the rows on its edges; what it makes of them is there in their place."""
        if isinstance(task.operation, Read) or not any(edge.tag in rows for edge in task.sources):
            return
        if not task.operation.runs_unread and not task.outputs:
            for edge in task.sources:  # nobody reads what it would make, or says what that would be
                rows.pop(edge.tag, None)
            return
        if isinstance(task.operation, Write):
            for edge in task.sources:
                self.outbox.put(task.name, task.operation, rows.pop(edge.tag))
            return
        slices = tuple(
            rows.pop(edge.tag) if edge.tag in rows else self._nothing(edge) for edge in task.sources
        )
        with self.times.of(task.name):
            rows_out = self.context.executors[task.name].execute(slices, self.state)
        self._hand_on(task, rows_out, rows)

    def _hand_on(self, task: PlacedOperation, rows_out: Slice | None, rows: dict[int, Slice]) -> None:
        """Put rows on the edges behind an operation, beside those that it put there before its end."""
        if rows_out is None or not len(rows_out):
            return
        for edge in task.outputs:
            before = [rows[edge.tag]] if edge.tag in rows else []
            rows[edge.tag] = concat_slices([*before, rows_out]) or rows_out

    def set_aside(self, task: int, bad: tuple[RejectedRecord, ...], asked: ReadRange) -> None:
        """Do with bad records of a range as the app wants."""
        sets_aside = self.sets_aside(task, asked)
        self.counts[task].bad += len(bad) if sets_aside else 0
        for cause, policy in self.context.setup.rejection.items() if bad else ():
            rejected = [record for record in bad if record.cause is cause]
            if rejected and policy.action == "fail":
                self.fail_task(task, TaskStatus.BAD, f"{rejected[0].keyed_place}: {rejected[0].reason}")
            elif rejected and policy.letters and sets_aside:
                covered = self._covered(task, asked)
                uncovered = [record for record in rejected if record.offset >= covered]
                if uncovered:
                    partition = Partition(asked.stream, asked.partition)
                    whole_records = with_headers(uncovered, partition, self.context.systems)
                    self.outbox.put_letters(policy.letters, task, *dead_letters(whole_records))

    def sets_aside(self, task: int, asked: ReadRange) -> bool:
        """True if bad records of a range are this task's to count and to write."""
        return (asked.stream, asked.partition) not in self.lane.tasks[task].set_aside_elsewhere

    def _covered(self, task: int, asked: ReadRange) -> int:
        """The offset up to which a checkpoint covers a side input, dead letters and all.

        Its records are read again when their table is filled again. Main inputs go on from the checkpoint.
        """
        order, partition = self.lane.tasks[task], Partition(asked.stream, asked.partition)
        known = [
            one.last or 0 for one in order.side_inputs if Partition(one.name, one.partition) == partition
        ]
        if not known or asked.only_rejects:
            return 0
        committed = Checkpoint.decode(order.committed).positions if order.committed else {}
        return max(*known, committed.get(partition, 0))

    def _misplaced_keys(self, stream: str, source: int, keys: pa.Array) -> Mapping[int, str]:
        placement = self.context.setup.placements.get(stream)
        _, asked = self.ranges[source]
        partitions = np.full(len(keys), asked.partition)
        return {} if placement is None else misplaced_keys(placement, partitions, keys)

    def _take_failed_rows(self) -> None:
        """Fail where an expression failed on rows, and name their records, if they come of one."""
        failed = self.state.failed
        if failed:
            self.fail_lane(TaskStatus.EXPRESSION, failed[0].reason)
        for row in failed:
            if row.source >= 0 and len(self.failed_records) < MOST_FAILED_RECORDS:
                _, asked = self.ranges[row.source]
                self.failed_records.append((asked.stream, asked.partition, row.offset, row.reason))

    def _set_aside_rejected(self) -> None:
        """Do with records of which operations say that they are bad as with those that cannot be decoded."""
        rejected, self.state.rejected = self.state.rejected, []
        reasons: dict[int, dict[int, str]] = {}
        for row in rejected:
            reasons.setdefault(row.source, {}).setdefault(row.offset, row.reason)
        for source, by_offset in reasons.items():
            task, asked = self.ranges[source]
            partition = Partition(asked.stream, asked.partition)
            records = reread_records(partition, asked, by_offset, self.context.systems)
            self.rejected_rows += records
            self.set_aside(task, records, asked)

    def _send_late_rows(self) -> None:
        """Send late rows to the stream that takes them; without one they were only counted."""
        late, self.state.late = self.state.late, []
        stream = self.context.setup.late_rows
        if stream is None:
            return
        for late_rows in late:
            for task, rows in slices_by_task(late_rows.rows):
                headers = self.outbox.headers_of_traces(rows)
                self.outbox.put_letters(stream, task, *late_letters(replace(late_rows, rows=rows)), *headers)

    def _nothing(self, edge: RowEdge) -> Slice:
        return blank_slice(0).with_columns(pa.nulls(0, f.type) for f in arrow_schema(edge.columns))

    def _fill(self, task: int, name: str, keys: pa.Array, values: pa.Array) -> None:
        self.context.side_input_stores.fill(self.lane.tasks[task].name, name, keys, values)

    def _store(self, task: int, name: str) -> Store:
        if name in self.context.lane_stores.specs:
            self._touched.add((task, name))
        return self.context.store(self.lane.tasks[task].name, name)
