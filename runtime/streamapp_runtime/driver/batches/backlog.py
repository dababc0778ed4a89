"""What there is to read: where the tasks are, and where the partitions end."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.driver.batches.data_loss import DataLoss
from streamapp_runtime.driver.batches.side_input_progress import SideInputProgress
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.inputs.bounded_turns import left_to_read, partitions_at_end, within_turn
from streamapp_runtime.driver.inputs.partition_splits import past_splits, settle_splits
from streamapp_runtime.driver.inputs.read_positions import ReadPositions
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, pending_ranges
from streamapp_runtime.driver.inputs.watermark_handover import inherited_bookkeeping
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.lanes.protocol.batch_orders import SidePartition
from streamapp_runtime.systems.stream_system import OffsetSpan, StreamSystem

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

    system: StreamSystem
    ledger: CheckpointStream
    launch: Launch
    clock: Callable[[], float] = time.time  # as splits are stamped
    heard: Callable[[str], None] = lambda _: None  # of records that are lost
    fillings: SideInputProgress = field(init=False)
    losses: DataLoss = field(init=False)
    _inherited: dict[str, str] | None = None  # by task: what it takes over from others; None when not known

    def __post_init__(self) -> None:
        self.fillings = SideInputProgress.of(self.launch)
        side, topics = self.launch.course.side, self.launch.topics
        read = {stream: topic for stream, topic in topics.items() if stream not in side}
        goes_on = self.launch.app.spec.on_data_loss == "earliest"
        self.losses = DataLoss(self.system, self.ledger, read, goes_on, time.monotonic, self.heard)

    def under(self, launch: Launch) -> "Backlog":
        """The records of the same app under another model."""
        found = replace(self, launch=launch)
        found.fillings = SideInputProgress.of(launch, self.fillings)
        found.start()
        return found

    def start(self) -> None:
        """Note how far tables have to be filled before they are joined."""
        self.fillings.start(self._spans(self.fillings.partitions))

    def positions(self) -> ReadPositions:
        """Where the tasks are, by their checkpoints."""
        return ReadPositions(self.ledger.of_tasks(), self.launch.shared, self.ledger.starts)

    def demands(self, positions: ReadPositions) -> list[PendingRange]:
        """Everything that could be read now."""
        side = self.launch.course.side
        main = {t: [p for p in parts if p.stream not in side] for t, parts in self.launch.partitions.items()}
        spans = self._spans([p for parts in main.values() for p in parts] + self.fillings.partitions)
        if self.losses.given_up(positions.next_of(main), spans):
            positions, self._inherited = self.positions(), None
        found = within_turn(self.launch.turn, pending_ranges(main, positions, spans))
        return [*found, *self.fillings.demands(spans)]

    def remaining(self, found: Sequence[PendingRange], given: Sequence[PendingRange]) -> RemainingInput:
        """What is left after a batch that is given some of what there is, and what tasks take over for it."""
        keeping = self.launch.setup.time
        if keeping is None:
            return RemainingInput()
        rest = left_to_read(found, given)
        silent = keeping.idle_rules
        behind = {
            task: tuple((p.stream, p.index) for p in parts if p.stream in silent and (task, p) in rest)
            for task, parts in self.launch.partitions.items()
        }
        if self._inherited is None:
            self._inherited = self._to_inherit(keeping)
        if self.launch.turn is None:
            return RemainingInput(behind, {}, self._inherited)
        reached = self.positions().next_of(keeping.partitions)
        reached |= {(demand.task, demand.partition): demand.end for demand in given}
        ended = partitions_at_end(self.launch.turn, keeping.partitions, rest, reached)
        return RemainingInput(behind, ended, self._inherited)

    def committed(self, task: str) -> None:
        """A task has a checkpoint of its own, and needs nothing from others any more."""
        if self._inherited is not None:
            self._inherited.pop(task, None)

    def read_anew(self, lanes: Lanes) -> None:
        """Begin anew with workers who know nothing: what tasks take over is to be looked up again."""
        self._inherited = None
        self.fillings.forget(lanes)

    def open(self, found: Sequence[PendingRange], positions: ReadPositions) -> list[PendingRange]:
        """What of it may be read now, and does not wait for older partitions of a stream that grew."""
        splits = settle_splits(self.ledger, self.system, self.launch.topics, self.clock(), self.launch.settle)
        tasks = self.launch.partitions
        return past_splits(found, tasks, positions.next_of(tasks) if splits else {}, splits)

    def settled(self) -> bool:
        """Whether all that the app wrote to itself is there to be read."""
        own, topics = set(self.launch.course.priority), self.launch.topics
        every = {p for partitions in self.launch.partitions.values() for p in partitions if p.stream in own}
        return self.system.settled(Partition(topics.get(p.stream, p.stream), p.index) for p in every)

    def waiting(self, positions: ReadPositions) -> frozenset[str]:
        """The tasks whose tables are not yet what they have to be."""
        return self.fillings.waiting(positions)

    def sides(self) -> Mapping[str, tuple[SidePartition, ...]]:
        """What fills the tables of each task."""
        return self.fillings.known or self.fillings.sides(self.positions())

    def forget_read(self) -> None:
        """Records of the app's own streams go once they are read."""
        course, topics = self.launch.course, self.launch.topics
        own = set(course.priority) - course.kept
        read = self.positions().done_with(self.launch.partitions)
        self.system.delete_before(
            {Partition(topics[p.stream], p.index): at for p, at in read.items() if p.stream in own}
        )

    def _to_inherit(self, keeping: EventTimeSetup) -> dict[str, str]:
        checkpoints = {t: Checkpoint.decode(text.encode()) for t, text in self.ledger.checkpoints.items()}
        layout = self.launch.assignment.layout
        return inherited_bookkeeping(
            keeping.partitions, checkpoints, self.launch.shared, layout, keeping.turn
        )

    def _spans(self, partitions: Collection[Partition]) -> dict[Partition, OffsetSpan]:
        topics = self.launch.topics
        asked = {p: Partition(topics.get(p.stream, p.stream), p.index) for p in partitions}
        spans = self.system.spans(set(asked.values()))
        return {partition: spans[place] for partition, place in asked.items()}
