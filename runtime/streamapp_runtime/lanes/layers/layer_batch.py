"""One batch in one layer: rows go to the operations that read their edge, what comes of them goes on."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.lanes.event_time.lane_event_time import LaneEventTime
from streamapp_runtime.lanes.layers.lane_commit import CommitResult, LaneCommit
from streamapp_runtime.lanes.layers.layer_report import LayerReport
from streamapp_runtime.lanes.layers.side_input_arrivals import SideInputArrivals
from streamapp_runtime.lanes.layers.step_times import StepTimes
from streamapp_runtime.lanes.layers.wide_rows import (
    DEAD_LETTER_TAG,
    LATE_ROW_TAG,
    NAME_REGISTER,
    VALUE_REGISTER,
)
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders
from streamapp_runtime.lanes.protocol.failed_rows import FailedRows
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord, dead_letters
from streamapp_runtime.lanes.records.late_rows import late_row_records as late_letters
from streamapp_runtime.lanes.records.record_collector import RecordCollector
from streamapp_runtime.operators.state.changelog_buffer import ChangelogBuffer
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.program.failed_row_steps import failed_step
from streamapp_runtime.program.program import CHANGELOG_TAG, REPORT_TAG, PlacedOperation, RowEdge
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import slices_by_task
from streamapp_runtime.stores.store import Store

if TYPE_CHECKING:
    from streamapp_runtime.lanes.layers.layer_worker import LayerWorker

COMMIT_STEP = "commit"
"""A step beside the operators: outputs encoded and written."""


class LayerBatch:
    """The rows of one batch on their way through one layer, and what is noted meanwhile."""

    def __init__(self, stage: "LayerWorker", orders: Orders, lane: LaneOrder, attempt: str) -> None:
        self.stage, self.orders, self.lane, self.attempt = stage, orders, lane, attempt
        self.failed: set[int] = set()
        self.told: dict[int, tuple[str, str]] = {}
        self.rows_in: Counter[int] = Counter()
        self.bytes_in: Counter[int] = Counter()
        self.bad: Counter[int] = Counter()
        self.restored: Counter[int] = Counter()
        self.sides = SideInputArrivals(stage.adjuncts)
        self.changes = ChangelogBuffer()
        self.outbox = RecordCollector(stage.forms, stage.setup.partitions, orders.time_ms)
        for remote in stage.remotes.values():
            remote.begin()
        keeping = None if orders.release else stage.setup.time
        self.time = LaneEventTime(keeping, lane, orders.time_ms, stage.books) if keeping else None
        self.state = LaneState(
            self._store,
            stage.schemas,
            tasks=len(lane.tasks),
            time_ms=orders.time_ms,
            remotes=stage.remotes,
            fill=self._fill,
            filled=stage.adjuncts.shelves,
            clock=self.time.clock if self.time else None,
        )
        self.times = StepTimes()
        self.misfits = FailedRows.of(lane)
        self._touched: set[tuple[int, str]] = set()

    def pass_on(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """A later layer: rows on its edges are taken up, others go by."""
        mine: dict[int, Slice] = {}
        for tag, found in self.stage.wide.by_tag(self._of_the_living(rows)):
            if tag in self.stage.edges:
                mine[tag] = self.stage.wide.to_slice(found, self.stage.edges[tag])
            elif self.stage.last:
                self._hear(tag, found)
            else:
                if tag == REPORT_TAG:
                    self._overhear(found)
                yield found
        if mine:
            yield from self.run(mine)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """When all rows have come: what operations do once a batch, then the changes that they leave."""
        rows: dict[int, Slice] = {}
        self.state.tasks = [index for index in range(len(self.lane.tasks)) if index not in self.failed]
        for task in () if self.orders.release else self.stage.layer.tasks:
            # What an operation has put out in the end is taken up by the next one before its own end.
            self._execute(task, rows)
            if task.name in self.stage.executors:
                with self.times.of(task.name):
                    made = self.stage.executors[task.name].settle(self.state)
                self._hand_on(task, made, rows)
        yield from self._out(rows)
        yield from self._leave_out()
        if self.orders.trial or self.orders.release:
            self.stage.adjuncts.drop()
        else:
            self.sides.apply(self.lane, self.state.tasks)
        for change in self.state.changes.drain():
            if self.stage.last:
                self.changes.add(change.task, change.name, change.keys, change.values)
            else:
                yield self.stage.wide.from_changelog(change.name, change.task, change.keys, change.values)

    def tell(self, task: int, status: str, message: str) -> None:
        """Note that a task cannot go on; the first word counts."""
        self.failed.add(task)
        self.told.setdefault(task, (status, message))

    def fail_all(self, status: str, message: str) -> None:
        """Note that the whole lane cannot go on."""
        for index in range(len(self.lane.tasks)):
            self.tell(index, status, message)

    def note_pending(self) -> None:
        """Name the writes that now wait in stores after this attempt."""
        for task, name in self._touched:
            self.stage.custody.written(self.lane.tasks[task].name, name, self.attempt)

    def own_reports(self) -> list[tuple[int, str]]:
        """What the last layer has to hear of this one."""
        said: list[tuple[int, str]] = []
        for index in range(len(self.lane.tasks)):
            counts = [counter[index] for counter in self._counters()]
            first = index == 0 and bool(self.state.counted or self.sides.published)
            news = self.time.news.get(index) if self.time and self.stage.first else None
            contained = self.sides.contained.get(index, {})
            if any(counts) or first or index in self.told or contained or news:
                held = self.sides.held.get(index, ())
                word = LayerReport(counts, self.told.get(index), contained=contained, held=held, news=news)
                if not said:  # what is of the whole lane is told once
                    word = replace(
                        word,
                        times=self.times.by_step(),
                        counted=self.counted(),
                        published=self.sides.published,
                    )
                said.append((index, word.text()))
        return said

    def counted(self) -> tuple[tuple[str, str, int], ...]:
        """What the operations of the lane counted."""
        return tuple((counter, name, number) for (counter, name), number in self.state.counted.items())

    def commit(self) -> CommitResult:
        """The last layer: everything of the tasks that did not fail, as one transaction."""
        setup = self.stage.setup
        ledger = LaneCommit(
            self.orders,
            self.lane,
            self.attempt,
            self.outbox,
            self.changes,
            frozenset(self.failed),
            setup.shelves,
            setup.run_id,
            setup.checkpoints,
            {self.lane.tasks[index].name: found for index, found in self.sides.contained.items()},
            self.time,
            setup.delivery,
        )
        with self.times.of(COMMIT_STEP):
            done = ledger.commit(self.stage.system)
        for counter, topic, number in done.traffic.counted():
            self.state.count(counter, topic, number)
        return done

    def run(self, rows: dict[int, Slice]) -> Iterator[pa.RecordBatch]:
        """Every operation of the layer that has rows on its edges, in their order."""
        for task in self.stage.layer.tasks:
            self._execute(task, rows)
        yield from self._out(rows)
        yield from self._leave_out()

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
            made = self.stage.executors[task.name].execute(slices, self.state)
        self._hand_on(task, made, rows)

    def _hand_on(self, task: PlacedOperation, made: Slice | None, rows: dict[int, Slice]) -> None:
        if made is not None and len(made):
            rows.update({edge.tag: made for edge in task.outputs})

    def _out(self, rows: dict[int, Slice]) -> Iterator[pa.RecordBatch]:
        for tag, found in rows.items():
            yield self.stage.wide.from_slice(found, self.stage.all_edges[tag], self.orders.time_ms)

    def _hear(self, tag: int, rows: pa.RecordBatch) -> None:
        """What earlier layers send to the last one."""
        if tag == REPORT_TAG:
            for task, word in self._overhear(rows):
                for counter, number in zip(self._counters(), word.counts, strict=False):
                    counter[task] += number
                self.times.add(word.times)
                for counted, name, number in word.counted:
                    self.state.count(counted, name, number)
                if word.told:
                    self.tell(task, *word.told)
        elif tag in {DEAD_LETTER_TAG, LATE_ROW_TAG}:
            for task in pc.unique(rows.column("task")).to_pylist():
                chosen = rows.filter(pc.equal(rows.column("task"), task))
                self._post(tag, task, chosen.column("k"), chosen.column(VALUE_REGISTER))
        elif failed_step(tag):
            self.misfits.add(rows)
        elif tag == CHANGELOG_TAG:
            names = rows.column(NAME_REGISTER).dictionary_encode()
            owners = np.stack([rows.column("task").to_numpy(), names.indices.to_numpy()])
            for task, name in np.unique(owners, axis=1).T.tolist():
                chosen = rows.filter(pa.array((owners[0] == task) & (owners[1] == name)))
                self.changes.add(
                    task, names.dictionary[name].as_py(), chosen.column("k"), chosen.column(VALUE_REGISTER)
                )

    def _overhear(self, rows: pa.RecordBatch) -> list[tuple[int, LayerReport]]:
        """What every layer has to know of those before: who failed, and whose side inputs are all there."""
        texts = zip(rows.column("task").to_pylist(), rows.column(NAME_REGISTER).to_pylist(), strict=True)
        words = [(task, LayerReport.parse(text)) for task, text in texts]
        for task, word in words:
            if word.told:
                self.failed.add(task)
            if word.news and self.time:
                self.time.take(task, word.news)
            self.sides.overhear(task, word)
        return words

    def _of_the_living(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of tasks that have not failed, and what earlier layers say of those that have."""
        if not self.failed:
            return rows
        lost = pc.is_in(rows.column("task"), pa.array(sorted(self.failed), pa.int32()))
        return rows.filter(pc.or_(pc.invert(lost), pc.equal(rows.column("tag"), REPORT_TAG)))

    def _counters(self) -> tuple[Counter[int], ...]:
        """What layers count by task, in the order in which they tell it."""
        return self.rows_in, self.bytes_in, self.bad, self.restored

    def set_aside(self, task: int, bad: tuple[RejectedRecord, ...]) -> Iterator[pa.RecordBatch]:
        """Do with bad records as the app wants."""
        self.bad[task] += len(bad)
        if bad and self.stage.setup.on_bad_record == "fail":
            self.tell(task, "bad", f"{bad[0].place}: {bad[0].reason}")
        elif bad and self.stage.setup.dead_letters:
            yield from self._sent(DEAD_LETTER_TAG, task, *dead_letters(bad))

    def _leave_out(self) -> Iterator[pa.RecordBatch]:
        """Send late rows to the stream that takes them; without one they were only counted."""
        late, self.state.late = self.state.late, []
        for each in late if self.stage.setup.late_rows else ():
            for task, rows in slices_by_task(each.rows):
                yield from self._sent(LATE_ROW_TAG, task, *late_letters(replace(each, rows=rows)))

    def _sent(self, tag: int, task: int, keys: pa.Array, values: pa.Array) -> Iterator[pa.RecordBatch]:
        if self.stage.last:
            self._post(tag, task, keys, values)
        else:
            yield self.stage.wide.from_letters(tag, task, keys, values)

    def _post(self, tag: int, task: int, keys: pa.Array, values: pa.Array) -> None:
        setup = self.stage.setup
        stream = setup.dead_letters if tag == DEAD_LETTER_TAG else setup.late_rows
        if stream is not None:
            self.outbox.put_letters(stream, task, keys, values)

    def _nothing(self, edge: RowEdge) -> Slice:
        schema = self.stage.wide.schema
        return self.stage.wide.to_slice(pa.record_batch([pa.nulls(0, t) for t in schema.types], schema), edge)

    def _fill(self, task: int, name: str, keys: pa.Array, values: pa.Array) -> None:
        self.stage.adjuncts.fill(self.lane.tasks[task].name, name, keys, values)

    def _store(self, task: int, name: str) -> Store:
        if name in self.stage.adjuncts.shelves:
            return self.stage.adjuncts.store(self.lane.tasks[task].name, name)
        self._touched.add((task, name))
        return self.stage.custody.store(self.lane.tasks[task].name, name)
