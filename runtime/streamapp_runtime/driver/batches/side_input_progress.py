"""The progress of tables that side inputs fill, as their stores say themselves, and who waits for them."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from streamapp.side_inputs.bootstrap_gate import BootstrapGate, bootstrap_gate
from streamapp.side_inputs.growth_order import waits_for_older
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.inputs.broadcast_tables import BroadcastTables
from streamapp_runtime.driver.inputs.fill_progress import FillProgress
from streamapp_runtime.driver.inputs.read_positions import ReadPositions
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.lanes.protocol.batch_orders import BroadcastOrder, ReadRange, SidePartition
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.operators.stateless.stream_operations import declared_stream

WAITING_SECONDS: Final = 3.0
"""So long rows wait for a side input before it is said."""


@dataclass(slots=True)
class AwaitedVersions:
    """The side inputs without a version that idle tasks wait for, once they have waited for some seconds."""

    clock: Callable[[], float] = time.monotonic
    _streams: tuple[str, ...] = ()
    _since: float = 0.0

    def note(self, streams: tuple[str, ...]) -> tuple[str, ...]:
        """The side inputs that are waited for now, if they were the same for long enough; else none."""
        if streams != self._streams:
            self._streams, self._since = streams, self.clock()
        return streams if self.clock() - self._since >= WAITING_SECONDS else ()


@dataclass(slots=True)
class SideInputProgress:
    """The positions that stores contain, by task. Nothing is read for those that are not yet reported."""

    launch: Launch
    broadcast_tables: BroadcastTables
    ends: Mapping[Partition, int] = field(default_factory=dict)  # at the start, of what is waited for
    contained: dict[str, dict[Partition, int]] = field(default_factory=dict)
    paused: dict[str, frozenset[str]] = field(default_factory=dict)  # by task: what waits for a version
    side_partitions_of: Mapping[str, tuple[SidePartition, ...]] = field(
        default_factory=dict
    )  # what fills whose tables
    unreported: dict[str, dict[Partition, ReadRange]] = field(
        default_factory=dict
    )  # by task: what its tables contain and no checkpoint covers
    filled_last: frozenset[str] = frozenset()  # who filled tables in the last batch, of those that take turns
    _sets_aside: str = ""  # the task that sets bad records of broadcast tables aside

    @classmethod
    def of(
        cls, launch: Launch, *, paced: bool = True, before: "SideInputProgress | None" = None
    ) -> "SideInputProgress":
        """Nothing is known of the stores yet; how far tables had to be filled under another model stays."""
        ends, seen_positions = (before.ends, before.broadcast_tables.seen_positions) if before else ({}, {})
        tables = BroadcastTables(launch.broadcasts, paced=paced, seen_positions=seen_positions)
        return cls(launch, tables, ends)

    @property
    def partitions(self) -> list[Partition]:
        """Everything that fills a table."""
        return [p for parts in self._of_task_tables().values() for p in parts] + sorted(self._of_broadcasts)

    @property
    def unknown_ends(self) -> list[Partition]:
        """The partitions that are to be read before tables are joined, it is not known how far."""
        bootstrap = self.launch.read_order.bootstrap
        return [p for p in self.partitions if p.stream in bootstrap and p not in self.ends]

    def start(self, spans: Mapping[Partition, OffsetSpan]) -> None:
        """Note how far tables have to be filled before they are joined, by the offsets of `unknown_ends`."""
        bootstrap = self.launch.read_order.bootstrap
        self.ends = {p: span.end for p, span in spans.items() if p.stream in bootstrap} | dict(self.ends)

    def forget(self, lanes: Lanes) -> None:
        """New workers open the stores again: what they contain has to be reported again."""
        self.broadcast_tables.forget(lanes, self.contained)
        self.contained, self.side_partitions_of, self.paused, self.unreported = {}, {}, {}, {}

    def follow(self, lanes: Lanes) -> None:
        """Take lanes that have come or gone while others go on."""
        if self.broadcast_tables.follow(lanes, self.contained):
            self._note_hosts()

    @property
    def left(self) -> int:
        """The number of records that main inputs still wait for, about: as many offsets have to be passed."""
        return sum(
            BootstrapGate({p: self.ends[p] for p in parts if p in self.ends}).remaining(
                self.contained.get(task, {}), self.paused.get(task, ())
            )
            for task, parts in self._of_tasks().items()
        )

    @property
    def unended(self) -> tuple[str, ...]:
        """The side inputs that rows wait for because no version of them has ended yet."""
        bootstrap = self.launch.read_order.bootstrap
        streams = {stream for paused in self.paused.values() for stream in paused if stream in bootstrap}
        return tuple(sorted({declared_stream(stream) for stream in streams}))

    def pressing(self, busy: Collection[str] = ()) -> bool:
        """True if a batch is needed even if there is nothing to read; not for tasks that are at one."""
        return bool(self.unreported.keys() - busy) or self.broadcast_tables.pressing(self._filled, busy)

    def broadcast_orders(
        self, lanes: Collection[str], version: str, ranges: Iterable[PendingRange]
    ) -> Mapping[str, tuple[BroadcastOrder, ...]]:
        """The broadcast orders of each of these lanes in a batch that reads these ranges."""
        return self.broadcast_tables.orders(lanes, version, self._filled, ranges)

    def note(self, reports: Sequence[TaskReport]) -> None:
        """Take what lanes report of their stores."""
        for report in reports:
            if report.checkpoint:
                self.unreported.pop(report.task, None)
            if report.contained:
                positions = {Partition.parse(name): at for name, at in report.contained.items()}
                self._note_unreported(report.task, positions)
                self.contained.setdefault(report.task, {}).update(positions)
                self.paused[report.task] = frozenset(report.paused_inputs)
        if self.broadcast_tables.note(reports, self.contained):
            self._note_hosts()

    def _note_hosts(self) -> None:
        """Other tasks than before fill broadcast tables: what they contain is said by those that do."""
        self.side_partitions_of = {}
        hosts, sets_aside = self.broadcast_tables.hosts(), self.broadcast_tables.sets_aside
        if sets_aside != self._sets_aside:  # what it contains is held against the checkpoints anew
            self._sets_aside = sets_aside
            hosts.pop(sets_aside, None)
        for task, positions in self.contained.items():
            for partition in (self._of_broadcasts & positions.keys()).difference(hosts.get(task, ())):
                del positions[partition]
        unreported = {
            task: {p: one for p, one in ranges.items() if task == sets_aside or p not in self._of_broadcasts}
            for task, ranges in self.unreported.items()
        }
        self.unreported = {task: ranges for task, ranges in unreported.items() if ranges}

    def _note_unreported(self, task: str, positions: Mapping[Partition, int]) -> None:
        """Note what a store contains beyond the checkpoint: the bad records of it were never set aside."""
        known = self.contained.get(task, {})
        for side in self.side_partitions_of.get(task, ()):
            partition = Partition(side.name, side.partition)
            start, end = side.last or 0, positions.get(partition, 0)
            if partition not in known and end > start and side.sets_aside:
                span = ReadRange(side.name, side.partition, start, end, only_rejects=True)
                self.unreported.setdefault(task, {})[partition] = span

    def pending(self, spans: Mapping[Partition, OffsetSpan]) -> Iterator[PendingRange]:
        """The ranges that could be read into tables now."""
        for task, positions in self.contained.items():
            for partition, at in positions.items():
                paused = self.paused.get(task, frozenset())
                waits = str(partition) in paused or self._waits(partition, positions, paused)
                if partition in spans and spans[partition].end > at and not waits:
                    yield PendingRange(task, partition, at, spans[partition].end)

    def _waits(
        self, partition: Partition, contained: Mapping[Partition, int], paused: Collection[str]
    ) -> bool:
        """True if older partitions go first. How a stream of broadcast tables alone grew is not known."""
        layout = self.launch.assignment.layout.streams.get(declared_stream(partition.stream))
        return waits_for_older(partition, self.ends, contained, layout.initial if layout else 1, paused)

    def waiting(self, positions: ReadPositions) -> frozenset[str]:
        """The tasks whose stores do not contain what their rows have to see."""
        bootstrap = self.launch.read_order.bootstrap
        waiting_tasks = set(self.broadcast_tables.waiting(self._filled))
        for task, parts in self._of_task_tables().items():
            ends = {p: self.ends[p] for p in parts if p in self.ends}
            gate = bootstrap_gate(ends, positions.of_tasks.get(task, {}))
            paused = self.paused.get(task, frozenset())
            if gate.waits(self.contained.get(task, {}), paused) or paused & bootstrap:
                waiting_tasks.add(task)
        return frozenset(waiting_tasks)

    def side_partitions(self, positions: ReadPositions) -> Mapping[str, tuple[SidePartition, ...]]:
        """The partitions that fill each task's tables, and how far the checkpoints say each was ever read."""
        parts = self._of_tasks()
        next_positions = positions.next_of(parts)
        starts, elsewhere = positions.starts or {}, self._of_broadcasts
        self.side_partitions_of = {
            task: tuple(
                SidePartition(
                    p.stream,
                    p.index,
                    next_positions.get((task, p), starts.get(_declared(p))),
                    task == self.broadcast_tables.sets_aside or p not in elsewhere,
                )
                for p in partitions
            )
            for task, partitions in parts.items()
        }
        return self.side_partitions_of

    @property
    def _of_broadcasts(self) -> frozenset[Partition]:
        return frozenset(p for table in self.launch.broadcasts for p in table.partitions)

    @property
    def _filled(self) -> FillProgress:
        return FillProgress(self.ends, self.contained, self.paused)

    def _of_tasks(self) -> dict[str, list[Partition]]:
        partitions, hosts = self._of_task_tables(), self.broadcast_tables.hosts()
        return {task: parts + hosts.get(task, []) for task, parts in partitions.items()}

    def _of_task_tables(self) -> dict[str, list[Partition]]:
        side = self.launch.read_order.side
        every = self.launch.partitions.items()
        return {task: [p for p in parts if p.stream in side] for task, parts in every}


def _declared(partition: Partition) -> Partition:
    return Partition(declared_stream(partition.stream), partition.index)
