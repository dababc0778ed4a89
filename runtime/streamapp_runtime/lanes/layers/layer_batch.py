"""One batch in one layer: rows go to the operations that read their edge, what comes of them goes on."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.lanes.event_time.lane_event_time import LaneEventTime
from streamapp_runtime.lanes.layers.lane_commit import CommitResult, LaneCommit
from streamapp_runtime.lanes.layers.layer_context import LayerContext
from streamapp_runtime.lanes.layers.layer_report import LayerReport
from streamapp_runtime.lanes.layers.side_input_arrivals import SideInputArrivals
from streamapp_runtime.lanes.layers.step_times import StepTimes
from streamapp_runtime.lanes.layers.wide_rows import (
    CODE_ERROR_TAG,
    DEAD_LETTER_TAG,
    LATE_ROW_TAG,
    NAME_REGISTER,
    VALUE_REGISTER,
)
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, ReadRange
from streamapp_runtime.lanes.protocol.failed_rows import MOST_FAILED_ROWS, FailedRecord, FailedRows
from streamapp_runtime.lanes.protocol.rejections import RejectionCause, RejectionReport
from streamapp_runtime.lanes.protocol.state_query import StateAnswer
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord, dead_letters
from streamapp_runtime.lanes.records.key_check import misplaced_keys
from streamapp_runtime.lanes.records.late_rows import late_row_records as late_letters
from streamapp_runtime.lanes.records.record_collector import RecordCollector
from streamapp_runtime.lanes.records.record_reader import reread_records
from streamapp_runtime.operators.state.changelog_buffer import ChangelogBuffer
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.program.failed_row_steps import failed_step
from streamapp_runtime.program.program import CHANGELOG_TAG, REPORT_TAG, PlacedOperation, RowEdge
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task
from streamapp_runtime.stores.store import Store

LETTER_TAGS: Final = {RejectionCause.RECORD: DEAD_LETTER_TAG, RejectionCause.CODE: CODE_ERROR_TAG}
LETTER_CAUSES: Final = {tag: cause for cause, tag in LETTER_TAGS.items()}
"""By cause, the tag of the records that are left out on their way to the stream that takes them."""
COMMIT_STEP = "commit"
"""A step beside the operators: outputs encoded and written."""


class LayerBatch:
    """The rows of one batch on their way through one layer, and what is noted meanwhile."""

    def __init__(self, context: LayerContext, orders: Orders, lane: LaneOrder, attempt: str) -> None:
        self.context, self.orders, self.lane, self.attempt = context, orders, lane, attempt
        self.ranges = [(index, one) for index, task in enumerate(lane.tasks) for one in task.ranges]
        self.failed: set[int] = set()
        self.failures: dict[int, tuple[TaskStatus, str]] = {}
        self.rows_in: Counter[int] = Counter()
        self.bytes_in: Counter[int] = Counter()
        self.bad: Counter[int] = Counter()
        self.rejected_rows: list[RejectedRecord] = []  # by operations, and not counted yet
        self.rejections: defaultdict[int, RejectionReport] = defaultdict(RejectionReport)
        self.restored: Counter[int] = Counter()
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
        self.state.misplaced = self._misplaced_keys
        self.state.ends_at_bad = context.setup.rejection[RejectionCause.RECORD].action == "fail"
        self.times = StepTimes()
        self.failed_rows = FailedRows.of(lane)
        self.failed_records: list[FailedRecord] = []  # on which an expression that a worker computes failed
        self.answers: list[StateAnswer] = []  # to what the lane was asked of its state
        self._touched: set[tuple[int, str]] = set()

    def process(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """A later layer: rows on its edges are taken up, others go by."""
        slices: dict[int, Slice] = {}
        for tag, tagged in self.context.wide.by_tag(self._of_healthy_tasks(rows)):
            if tag in self.context.edges:
                slices[tag] = self.context.wide.to_slice(tagged, self.context.edges[tag])
            elif self.context.last:
                self._take_internal_rows(tag, tagged)
            else:
                if tag == REPORT_TAG:
                    self._take_reports(tagged)
                yield tagged
        if slices:
            yield from self.run(slices)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """When all rows have come: what operations do once a batch, then the changes that they leave."""
        rows: dict[int, Slice] = {}
        self.state.tasks = [index for index in range(len(self.lane.tasks)) if index not in self.failed]
        for task in () if self.orders.release else self.context.layer.tasks:
            # What an operation has put out in the end is taken up by the next one before its own end.
            self._execute(task, rows)
            if task.name in self.context.executors:
                with self.times.of(task.name):
                    rows_out = self.context.executors[task.name].settle(self.state)
                self._hand_on(task, rows_out, rows)
        yield from self._out(rows)
        yield from self._send_late_rows()
        self._take_failed_rows()
        if self.orders.trial or self.orders.release or self.failed_records:
            self.context.side_input_stores.drop()
        else:
            self.side_inputs.apply(self.lane, self.state.tasks)
        for change in self.state.changes.drain():
            if self.context.last:
                self.changes.add(change.task, change.name, change.keys, change.values)
            else:
                yield self.context.wide.from_changelog(change.name, change.task, change.keys, change.values)

    def fail_task(self, task: int, status: TaskStatus, message: str) -> None:
        """Note that a task cannot go on; the first reason counts."""
        self.failed.add(task)
        self.failures.setdefault(task, (status, message))

    def fail_lane(self, status: TaskStatus, message: str) -> None:
        """Note that the whole lane cannot go on."""
        for index in range(len(self.lane.tasks)):
            self.fail_task(index, status, message)

    def note_pending(self) -> None:
        """Name the writes that now wait in stores after this attempt."""
        for task, name in self._touched:
            self.context.lane_stores.note_pending(self.lane.tasks[task].name, name, self.attempt)

    def layer_reports(self) -> list[tuple[int, str]]:
        """The reports of this layer to the last one, by task."""
        reports: list[tuple[int, str]] = []
        for index in range(len(self.lane.tasks)):
            counts = [counter[index] for counter in self._counters()]
            first = index == 0 and bool(self.state.counted or self.side_inputs.published or self.answers)
            update = self.time.updates.get(index) if self.time and self.context.first else None
            contained = self.side_inputs.contained.get(index, {})
            rejections = self.rejections.get(index, RejectionReport())
            if any(counts) or first or index in self.failures or contained or update or rejections.counts:
                report = LayerReport(
                    counts,
                    self.failures.get(index),
                    contained=contained,
                    paused_inputs=self.side_inputs.paused_inputs.get(index, ()),
                    watermark_update=update,
                    rejections=rejections,
                )
                if not reports:  # what is of the whole lane is reported once
                    report = replace(
                        report,
                        times=self.times.by_step(),
                        counted=self.counted(),
                        published=self.side_inputs.published,
                        failed_records=tuple(self.failed_records),
                        answers=tuple(self.answers),
                    )
                reports.append((index, report.text()))
        return reports

    def counted(self) -> tuple[tuple[str, str, int], ...]:
        """The counts of the lane's operations."""
        return tuple((counter, name, number) for (counter, name), number in self.state.counted.items())

    def commit(self) -> CommitResult:
        """The last layer: everything of the tasks that did not fail, as one transaction."""
        setup = self.context.setup
        contained = self.side_inputs.contained
        lane_commit = LaneCommit(
            self.orders,
            self.lane,
            self.attempt,
            self.outbox,
            self.changes,
            frozenset(self.failed),
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

    def run(self, rows: dict[int, Slice]) -> Iterator[pa.RecordBatch]:
        """Every operation of the layer that has rows on its edges, in their order."""
        for task in self.context.layer.tasks:
            self._execute(task, rows)
        yield from self._set_aside_rejected()
        yield from self._out(rows)
        yield from self._send_late_rows()

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

    def _out(self, rows: dict[int, Slice]) -> Iterator[pa.RecordBatch]:
        for tag, rows_of_edge in rows.items():
            yield self.context.wide.from_slice(rows_of_edge, self.context.all_edges[tag], self.orders.time_ms)

    def _take_internal_rows(self, tag: int, rows: pa.RecordBatch) -> None:
        """Take the rows that earlier layers send to the last one."""
        if tag == REPORT_TAG:
            for task, report in self._take_reports(rows):
                for counter, number in zip(self._counters(), report.counts, strict=False):
                    counter[task] += number
                self.times.add(report.times)
                self.failed_records += report.failed_records
                self.answers += report.answers
                self.rejections[task].add(report.rejections)
                for counter_or_level, name, number in report.counted:
                    self.state.counted[counter_or_level, name] += number
                if report.failure:
                    self.fail_task(task, *report.failure)
        elif tag in {*LETTER_TAGS.values(), LATE_ROW_TAG}:
            for task in pc.unique(rows.column("task")).to_pylist():
                chosen = rows.filter(pc.equal(rows.column("task"), task))
                self._collect_side_output(tag, task, chosen.column("k"), chosen.column(VALUE_REGISTER))
        elif failed_step(tag):
            self.failed_rows.add(rows)
        elif tag == CHANGELOG_TAG:
            names = rows.column(NAME_REGISTER).dictionary_encode()
            owners = np.stack([rows.column("task").to_numpy(), names.indices.to_numpy()])
            for task, name in np.unique(owners, axis=1).T.tolist():
                chosen = rows.filter(pa.array((owners[0] == task) & (owners[1] == name)))
                self.changes.add(
                    task, names.dictionary[name].as_py(), chosen.column("k"), chosen.column(VALUE_REGISTER)
                )

    def _take_reports(self, rows: pa.RecordBatch) -> list[tuple[int, LayerReport]]:
        """The reports of the layers before, noted here: who failed, and whose side inputs are all there."""
        texts = zip(rows.column("task").to_pylist(), rows.column(NAME_REGISTER).to_pylist(), strict=True)
        reports = [(task, LayerReport.parse(text)) for task, text in texts]
        for task, report in reports:
            if report.failure:
                self.failed.add(task)
            if report.watermark_update and self.time:
                self.time.take_update(task, report.watermark_update)
            self.side_inputs.take_report(task, report)
        return reports

    def _of_healthy_tasks(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of tasks that have not failed, and what earlier layers say of those that have."""
        if not self.failed:
            return rows
        of_failed = pc.is_in(rows.column("task"), pa.array(sorted(self.failed), pa.int32()))
        return rows.filter(pc.or_(pc.invert(of_failed), pc.equal(rows.column("tag"), REPORT_TAG)))

    def _counters(self) -> tuple[Counter[int], ...]:
        """The counters that layers keep by task, in the order in which they report them."""
        return self.rows_in, self.bytes_in, self.bad, self.restored

    def set_aside(
        self, task: int, bad: tuple[RejectedRecord, ...], asked: ReadRange
    ) -> Iterator[pa.RecordBatch]:
        """Do with bad records of a range as the app wants."""
        sets_aside = self.sets_aside(task, asked)
        self.bad[task] += len(bad) if sets_aside else 0
        for cause, policy in self.context.setup.rejection.items() if bad else ():
            rejected = [record for record in bad if record.cause is cause]
            if rejected and policy.action == "fail":
                self.fail_task(task, TaskStatus.BAD, f"{rejected[0].keyed_place}: {rejected[0].reason}")
            elif rejected and policy.letters and sets_aside:
                covered = self._covered(task, asked)
                uncovered = [record for record in rejected if record.offset >= covered]
                if uncovered:
                    yield from self._send(LETTER_TAGS[cause], task, *dead_letters(uncovered))

    def sets_aside(self, task: int, asked: ReadRange) -> bool:
        """True if bad records of a range are this task's to count and to write."""
        return (asked.stream, asked.partition) not in self.lane.tasks[task].set_aside_elsewhere

    def _covered(self, task: int, asked: ReadRange) -> int:
        """The offset up to which a checkpoint covers a side input, dead letters and all.

        Its records are read again when their table is filled again. Main inputs go on from the checkpoint.
        """
        order, partition = self.lane.tasks[task], Partition(asked.stream, asked.partition)
        known = [one.last or 0 for one in order.sides if Partition(one.name, one.partition) == partition]
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
            if row.source >= 0 and len(self.failed_records) < MOST_FAILED_ROWS:
                _, asked = self.ranges[row.source]
                self.failed_records.append((asked.stream, asked.partition, row.offset, row.reason))

    def _set_aside_rejected(self) -> Iterator[pa.RecordBatch]:
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
            yield from self.set_aside(task, records, asked)

    def _send_late_rows(self) -> Iterator[pa.RecordBatch]:
        """Send late rows to the stream that takes them; without one they were only counted."""
        late, self.state.late = self.state.late, []
        for late_rows in late if self.context.setup.late_rows else ():
            for task, rows in slices_by_task(late_rows.rows):
                yield from self._send(LATE_ROW_TAG, task, *late_letters(replace(late_rows, rows=rows)))

    def _send(self, tag: int, task: int, keys: pa.Array, values: pa.Array) -> Iterator[pa.RecordBatch]:
        if self.context.last:
            self._collect_side_output(tag, task, keys, values)
        else:
            yield self.context.wide.from_letters(tag, task, keys, values)

    def _collect_side_output(self, tag: int, task: int, keys: pa.Array, values: pa.Array) -> None:
        setup = self.context.setup
        stream = setup.late_rows if tag == LATE_ROW_TAG else setup.rejection[LETTER_CAUSES[tag]].letters
        if stream is not None:
            self.outbox.put_letters(stream, task, keys, values)

    def _nothing(self, edge: RowEdge) -> Slice:
        schema = self.context.wide.schema
        return self.context.wide.to_slice(
            pa.record_batch([pa.nulls(0, t) for t in schema.types], schema), edge
        )

    def _fill(self, task: int, name: str, keys: pa.Array, values: pa.Array) -> None:
        self.context.side_input_stores.fill(self.lane.tasks[task].name, name, keys, values)

    def _store(self, task: int, name: str) -> Store:
        if name in self.context.lane_stores.specs:
            self._touched.add((task, name))
        return self.context.store(self.lane.tasks[task].name, name)
