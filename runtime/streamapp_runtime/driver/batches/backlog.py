"""The records to read: from the positions of the tasks to the ends of the partitions."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.batches.side_input_progress import SideInputProgress
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.inputs.bounded_turns import (
    awaiting_histories,
    left_to_read,
    partitions_at_end,
    refuse_unreachable_end,
    within_turn,
)
from streamapp_runtime.driver.inputs.data_loss import DataLoss
from streamapp_runtime.driver.inputs.open_transactions import OpenTransactionWatch
from streamapp_runtime.driver.inputs.partition_splits import (
    closed_partitions,
    endless_waits,
    settle_splits,
)
from streamapp_runtime.driver.inputs.read_positions import ReadPositions
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, pending_ranges
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition, UnreadPartitionWatch
from streamapp_runtime.driver.inputs.watermark_handover import inherited_bookkeeping
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.lanes.delivery_guarantee import DeliveryGuarantee
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.lanes.protocol.batch_orders import SidePartition
from streamapp_runtime.systems.answering_systems import AnsweringSystems
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import (
    UnavailableError,
    UnknownStreamError,
    await_visibility,
)

AGE_SECONDS: Final = 10.0
"""How often streams that others read too are looked through for records that are too old."""
PartitionNames = tuple[tuple[str, int], ...]
"""Partitions, by stream and index."""


@dataclass(frozen=True, slots=True)
class RemainingInput:
    """By task: partitions with more to read, partitions at their end, and what it takes over from others."""

    behind: Mapping[str, PartitionNames] = field(default_factory=dict)
    ended: Mapping[str, PartitionNames] = field(default_factory=dict)
    inherited: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Backlog:
    """The records that an app has before it."""

    run: CurrentRun
    clock: Callable[[], float] = time.time  # as splits are stamped
    data_lost: Callable[[str], None] = lambda _: None  # called with which records are lost
    answering: AnsweringSystems = field(default_factory=AnsweringSystems)
    open_transactions: OpenTransactionWatch = field(default_factory=OpenTransactionWatch)
    unread: UnreadPartitionWatch = field(default_factory=UnreadPartitionWatch)
    side_inputs: SideInputProgress = field(init=False)
    data_loss: DataLoss = field(init=False)
    spans: Mapping[Partition, OffsetSpan] = field(default_factory=dict)  # as of the last look
    endless: Sequence[UnreadPartition] = ()  # what waits for what does not come, as of the last look
    _ages_seen: float = float("-inf")  # when records were last looked at for their age
    _inherited: dict[str, str] | None = None  # by task: what it takes over from others; None when not known

    def __post_init__(self) -> None:
        self.side_inputs = SideInputProgress.of(self.launch, paced=self.run.settings.copies_paced)
        self.data_loss = self._new_data_loss()

    @property
    def launch(self) -> Launch:
        """The launch that runs."""
        return self.run.launch

    @property
    def systems(self) -> Systems:
        """The systems of the app's streams."""
        return self.launch.context.systems

    @property
    def ledger(self) -> CheckpointStream:
        """The app's checkpoint stream."""
        return self.launch.context.ledger

    @property
    def ends(self) -> Mapping[Partition, int]:
        """The ends of all streams that are read, as of the last look."""
        return {partition: span.end for partition, span in self.spans.items()}

    @property
    def own_ends(self) -> Mapping[Partition, int]:
        """The ends of the app's own streams."""
        ends = self.ends
        return {partition: ends[partition] for partition in self._own_partitions() if partition in ends}

    def renew(self) -> None:
        """Go on with the records of the same app, once the run has another model."""
        paced = self.run.settings.copies_paced
        side_inputs = SideInputProgress.of(self.launch, paced=paced, before=self.side_inputs)
        side_inputs.start(self.systems.spans(side_inputs.unknown_ends))
        self.side_inputs, self.data_loss = side_inputs, self._new_data_loss()

    def start(self) -> None:
        """Note how far tables have to be filled before they are joined."""
        self.side_inputs.start(self.systems.spans(self.side_inputs.unknown_ends))

    def positions(self) -> ReadPositions:
        """The positions of the tasks, by their checkpoints."""
        return ReadPositions(self.ledger.positions(), self.launch.shared, self.ledger.starts)

    def pending(self, positions: ReadPositions, busy: Collection[str] = ()) -> list[PendingRange]:
        """Everything that could be read now.

        Nothing is given up that `busy` tasks read: where those are is known when they have reported. A system
        that does not answer has nothing to be read.
        """
        side = self.launch.read_order.side
        by_task = self.launch.partitions.items()
        asked_partitions = [p for _, parts in by_task for p in parts if p.stream not in side]
        asked_partitions += self.side_inputs.partitions
        self.spans = spans = self.answering.spans(self.systems, asked_partitions)
        main = {t: [p for p in parts if p.stream not in side and p in spans] for t, parts in by_task}
        idle = {task: parts for task, parts in main.items() if task not in busy} if busy else main
        read_by_busy = {p for task in busy for p in main.get(task, ())}
        if self.data_loss.give_up_lost(positions.next_of(idle), spans, read_by_busy):
            positions, self._inherited = self.positions(), None
            refuse_unreachable_end(self.launch.turn, spans)
        self.open_transactions.look(self.systems, spans.keys(), self.launch.read_order.priority)
        main_ranges = within_turn(self.launch.turn, pending_ranges(main, positions, spans))
        ranges = [*main_ranges, *self.side_inputs.pending(spans)]
        if recreated := self.data_loss.recreated:  # until none of their tasks is busy
            readers = {task for task, parts in main.items() if any(p.stream in recreated for p in parts)}
            ranges = [one for one in ranges if one.task not in readers]
        return ranges

    def remaining(self, pending: Sequence[PendingRange], ranges: Sequence[PendingRange]) -> RemainingInput:
        """The input left after a batch that reads some of the pending ranges, and what tasks take over."""
        event_time = self.launch.setup.time
        if event_time is None:
            return RemainingInput()
        left = left_to_read(pending, ranges) | self._unknown()
        rules = event_time.idle_rules
        behind = {
            task: tuple((p.stream, p.index) for p in parts if p.stream in rules and (task, p) in left)
            for task, parts in self.launch.partitions.items()
        }
        if self._inherited is None:
            self._inherited = self._to_inherit(event_time)
        if self.launch.turn is None:
            return RemainingInput(behind, {}, self._inherited)
        reached = self.positions().next_of(event_time.partitions)
        reached |= {(one.task, one.partition): one.end for one in ranges}
        ended = partitions_at_end(self.launch.turn, event_time.partitions, left, reached)
        return RemainingInput(behind, ended, self._inherited)

    def committed(self, task: str) -> None:
        """A task has a checkpoint of its own, and needs nothing from others any more."""
        if self._inherited is not None:
            self._inherited.pop(task, None)

    def read_anew(self, lanes: Lanes) -> None:
        """Start again with workers who know nothing: what tasks take over is to be looked up again."""
        self._inherited = None
        self.side_inputs.forget(lanes)
        self.unread.forget()

    def readable(self, pending: Sequence[PendingRange], positions: ReadPositions) -> list[PendingRange]:
        """The ranges that may be read now: not after a table, or older partitions of a stream that grew."""
        now, settle = self.clock(), self.launch.settle
        splits = settle_splits(self.ledger, self.systems, now, settle, self._silent_streams)
        histories = self.launch.read_order.histories
        reached = self._reached(positions) if splits or histories else {}
        closed = closed_partitions(pending, self.launch.partitions, reached, splits)
        self.endless = endless_waits(closed, pending, splits, now, settle)
        later = awaiting_histories(self.launch.turn, histories, reached)
        return [
            one
            for one in pending
            if (one.task, one.partition) not in closed and one.partition.stream not in later
        ]

    def _reached(self, positions: ReadPositions) -> dict[tuple[str, Partition], int]:
        """The offsets of tasks, or the oldest: a partition whose records are all gone is read to its end."""
        oldest = {
            (task, partition): self.spans[partition].oldest
            for task, partitions in self.launch.partitions.items()
            for partition in partitions
            if partition in self.spans
        }
        return oldest | positions.next_of(self.launch.partitions)

    def settled(self) -> bool:
        """True if all that the app wrote to itself is there to be read."""
        return not self.systems.open_transactions(self._own_partitions())

    def await_visibility(self) -> None:
        """Return when readers see all that lanes have committed: for who reads it once the app has ended.

        Not for long: a transaction of somebody else may be open.
        """
        counts = self.launch.setup.partitions
        written = [Partition(stream, index) for stream in counts for index in range(counts[stream])]
        with suppress(UnavailableError, UnknownStreamError):
            await_visibility(self.systems.home, map(self.systems.at_home, written))

    def waiting(self, positions: ReadPositions) -> frozenset[str]:
        """The tasks whose tables are not yet what they have to be."""
        return self.side_inputs.waiting(positions)

    def filling(self, waiting_tasks: Collection[str]) -> Collection[str]:
        """Those of the tasks that wait for tables, while something fills tables or a version is awaited."""
        if not waiting_tasks:
            return ()
        is_filling = bool(self.side_inputs.unended) or any(self.side_inputs.pending(self.spans))
        return waiting_tasks if is_filling else ()

    def side_partitions(self) -> Mapping[str, tuple[SidePartition, ...]]:
        """The partitions that fill the tables of each task."""
        return self.side_inputs.side_partitions_of or self.side_inputs.side_partitions(self.positions())

    def forget_read(self) -> None:
        """Records of the app's own streams go once they are read, or later where others read them too."""
        order = self.launch.read_order
        read = self.positions().done_with(self.launch.partitions)
        own_positions = {p: at for p, at in read.items() if p.stream in order.priority}
        shared_positions = {p: at for p, at in own_positions.items() if p.stream in order.retained}
        self.systems.delete_before(own_positions | self._below_age(shared_positions))

    def _below_age(self, read: Mapping[Partition, int]) -> dict[Partition, int]:
        """Up to where records are read, and older than their stream keeps them; 0 between two looks."""
        now, retained = self.clock(), self.launch.read_order.retained
        if now - self._ages_seen < AGE_SECONDS:
            return dict.fromkeys(read, 0)
        self._ages_seen = now
        below: dict[Partition, int] = {}
        for stream in {partition.stream for partition in read}:
            partitions = [partition for partition in read if partition.stream == stream]
            young = self.systems.offsets_at(partitions, int(now * 1000) - retained[stream])
            below |= {partition: min(read[partition], young[partition]) for partition in partitions}
        return below

    def _new_data_loss(self) -> DataLoss:
        has_late_checkpoints = self.launch.setup.delivery is DeliveryGuarantee.AT_LEAST_ONCE
        return DataLoss(
            systems=self.systems,
            ledger=self.ledger,
            streams=self.launch.streams - self.launch.read_order.side,
            goes_on=self.launch.app.spec.on_data_loss == "earliest",
            clock=time.monotonic,
            now=self.clock,
            reported=self.data_lost,
            repeated=frozenset(self.launch.read_order.priority) if has_late_checkpoints else frozenset(),
        )

    def _to_inherit(self, event_time: EventTimeSetup) -> dict[str, str]:
        checkpoints = self.ledger.of_tasks()
        layout = self.launch.assignment.layout
        return inherited_bookkeeping(
            event_time.partitions, checkpoints, self.launch.shared, layout, event_time.turn
        )

    @property
    def _silent_streams(self) -> frozenset[str]:
        """The streams in systems that do not answer."""
        return frozenset(stream for one in self.answering.silent for stream in one.streams)

    def _unknown(self) -> set[tuple[str, Partition]]:
        """By task, the partitions of which nobody knows whether something is left to read."""
        streams = self._silent_streams
        return {(t, p) for t, parts in self.launch.partitions.items() for p in parts if p.stream in streams}

    def _own_partitions(self) -> set[Partition]:
        """The partitions of the streams that the app writes for itself to read."""
        own_streams = set(self.launch.read_order.priority)
        return {p for parts in self.launch.partitions.values() for p in parts if p.stream in own_streams}
