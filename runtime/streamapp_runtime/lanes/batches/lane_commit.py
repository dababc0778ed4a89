"""The end of a batch: outputs, changelog and checkpoints of a lane as one transaction, or nothing of it."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, EventTimeProgress
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.lanes.delivery_guarantee import DeliveryGuarantee
from streamapp_runtime.lanes.event_time.lane_event_time import LaneEventTime
from streamapp_runtime.lanes.event_time.watermark_sender import WatermarkSender
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, TaskOrder
from streamapp_runtime.lanes.protocol.traffic import Traffic
from streamapp_runtime.lanes.records.record_collector import RecordCollector
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.operators.state.changelog_buffer import ChangelogBuffer, TableChanges
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import RECORDS, Transaction
from streamapp_runtime.systems.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The checkpoints that a commit wrote, with the rows, progress and traffic of its tasks."""

    checkpoints: Mapping[int, bytes]  # by task, as they were written
    rows_out: Mapping[int, int]
    due: Mapping[int, int | None] = field(default_factory=dict)  # when a task has something to say
    reached: Mapping[int, EventTimeProgress] = field(default_factory=dict)  # what each task has in event time
    traffic: Traffic = field(default_factory=Traffic)


@dataclass(frozen=True, slots=True)
class LaneCommit:
    """The commit that a lane is about to make."""

    orders: Orders
    lane: LaneOrder
    attempt: str
    outbox: RecordCollector
    changes: ChangelogBuffer
    failed: frozenset[int]
    store_specs: Mapping[str, StoreSpec]
    run_id: str
    checkpoint_stream: str
    read_streams: frozenset[str]  # that the app reads: what is written there is to be seen at once
    contained: Mapping[str, Mapping[Partition, int]] = field(default_factory=dict)  # side inputs, by task
    time: LaneEventTime | None = None
    delivery: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE

    def commit(self, systems: Systems) -> CommitResult:
        """Write everything of the tasks that did not fail; FencedError when another writer has taken over."""
        outputs_first = self.delivery is DeliveryGuarantee.AT_LEAST_ONCE
        healthy_tasks = [
            (index, task) for index, task in enumerate(self.lane.tasks) if index not in self.failed
        ]
        expected = {task.name.encode(): task.committed for _, task in healthy_tasks}
        incarnation, writer = self.orders.incarnation, self.lane.processor
        begin = systems.home.begin
        transaction = begin(
            self.checkpoint_stream, incarnation, expected, writer, at_least_once=outputs_first
        )
        append = (
            transaction.append
            if self.delivery is DeliveryGuarantee.EXACTLY_ONCE
            else transaction.append_uncommitted
        )

        def send(partition: Partition, records: pa.RecordBatch) -> None:
            append(systems.at_home(partition), records)

        rows_out = np.zeros(len(self.lane.tasks), np.int64)
        traffic = Traffic()
        for partition, records, tasks in self.outbox.records(self.failed):
            traffic.note(partition.stream, records)
            send(partition, records)
            rows_out += np.bincount(tasks.to_numpy(), minlength=len(rows_out))
        written: defaultdict[int, list[TableChanges]] = defaultdict(list)
        for change in self.changes.drain():
            written[change.task].append(change)
        for index, task in healthy_tasks:
            self._write_changelog(task, written[index], transaction)
        reached, due = self._send_watermarks(healthy_tasks, send)
        checkpoints = {}
        for index, task in healthy_tasks:
            # Whatever a task does moves its checkpoint: else it could be done twice, or be pending for ever.
            if task.ranges or written[index] or rows_out[index] or self._moved(index, reached):
                checkpoint = self._checkpoint(task, written[index], transaction)
                checkpoints[index] = replace(checkpoint, reached=reached.get(index)).encode()
                transaction.put(self.checkpoint_stream, task.name.encode(), checkpoints[index])
        if checkpoints:
            crash_point(f"commit.before.{self.lane.processor}")
            transaction.commit(systems.home_topics(self.read_streams))
            crash_point(f"commit.after.{self.lane.processor}")
        else:
            transaction.abort()
        return CommitResult(checkpoints, dict(enumerate(rows_out.tolist())), due, reached, traffic)

    def _send_watermarks(
        self,
        healthy_tasks: Sequence[tuple[int, TaskOrder]],
        send: Callable[[Partition, pa.RecordBatch], None],
    ) -> tuple[dict[int, EventTimeProgress], dict[int, int | None]]:
        """Write control messages behind all rows; what the tasks have reached then, and when more are due."""
        if self.time is None:
            return {}, {}
        sender = WatermarkSender(self.time.setup, self.orders.time_ms)
        reached: dict[int, EventTimeProgress] = {}
        due: dict[int, int | None] = {}
        for index, task in healthy_tasks:
            before, update = self.time.before[index], self.time.updates.get(index)
            reached[index], due[index] = sender.after(task.name, before, update)
        for partition, records in sender.records():
            send(partition, records)
        return reached, due

    def _moved(self, index: int, reached: Mapping[int, EventTimeProgress]) -> bool:
        """True if a task has reached or said anything. To have heard the same again is no news."""
        if self.time is None:
            return False
        before, after = self.time.before[index], reached[index]
        parts = [(one.turn, one.watermarks, one.sent) for one in (before, after)]
        return parts[0] != parts[1] or bool(self.lane.tasks[index].inherited_bookkeeping)

    def _write_changelog(
        self, task: TaskOrder, changes: Sequence[TableChanges], transaction: Transaction
    ) -> None:
        """Write what a task changed in its tables to their changelogs."""
        for change in changes:
            stream = self.store_specs[change.name].changelog
            if stream is not None:
                time = pa.array(np.full(len(change.keys), self.orders.time_ms, np.int64))
                entries = pa.record_batch([change.keys, change.values, time], schema=RECORDS)
                transaction.append(TopicPartition(stream, task.changelog), entries)

    def _checkpoint(
        self, task: TaskOrder, changes: Sequence[TableChanges], transaction: Transaction
    ) -> Checkpoint:
        """A task's next checkpoint, once its changelog is written."""
        before = Checkpoint.decode(task.committed) if task.committed else Checkpoint(self.run_id)
        changelogs = dict(before.changelogs)
        for name in {change.name for change in changes if len(change.keys)}:
            stream = self.store_specs[name].changelog
            if stream is not None:
                changelogs[name] = transaction.end_of(TopicPartition(stream, task.changelog))
        for change in changes:
            if self.store_specs[change.name].changelog is None:
                # Written to no stream: the count tells a store that has all of it from one that has not.
                changelogs[change.name] = changelogs.get(change.name, 0) + len(change.keys)
        positions = dict(before.positions)
        sides = {side.name for side in task.side_inputs}
        read = {Partition(r.stream, r.partition): r.end for r in task.ranges if r.stream not in sides}
        # A checkpoint covers a record when it is set aside as well.
        elsewhere = {Partition(*place) for place in task.set_aside_elsewhere}
        contained = self.contained.get(task.name, {})
        positions |= {**read, **{p: at for p, at in contained.items() if p not in elsewhere}}
        return Checkpoint(self.run_id, self.attempt, positions, changelogs)
