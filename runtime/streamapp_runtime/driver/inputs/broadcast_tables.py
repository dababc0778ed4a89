"""Broadcast tables: which lane fills each, which version of it every lane reads, when the next one is made.

A location, which is where the state folder is the same, has one store of such a table and one lane that fills
it. What rows see are versions of it: copies that never change. A table in memory is filled by each lane.
Where rows come as versions of their own, one of those is copied when it is whole.

Lanes need not run their batches together. An order names the version that its rows see, and a version is kept
until every lane of the location has had an order that names another one.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from streamapp.side_inputs.bootstrap_gate import bootstrap_gate
from streamapp.side_inputs.broadcast_writers import broadcast_writers
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.inputs.fill_progress import ContainedPositions, FillProgress
from streamapp_runtime.driver.inputs.fill_turns import TurnTakingStore
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.lanes.protocol.batch_orders import BroadcastOrder
from streamapp_runtime.lanes.protocol.task_report import TaskReport

LEAST_SECONDS = 1.0
"""A version is copied no more often, however fast the table changes."""
_SHARE = 10.0
"""And the copying takes no more than a tenth of the time."""


@dataclass(frozen=True, slots=True)
class BroadcastTable:
    """A table that is whole everywhere, and what fills it."""

    name: str
    partitions: tuple[Partition, ...]
    in_memory: bool
    versions: bool = False  # whether its rows come as versions that are seen when they are whole
    before_join: bool = False  # whether rows see what comes in their own batch

    @property
    def takes_turns(self) -> bool:
        """True if the table is filled in batches in which no rows see it."""
        return self.before_join and not self.in_memory


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A copy that rows may see."""

    name: str
    positions: Mapping[Partition, int]
    next_after: float  # when another may be made


@dataclass(slots=True)
class BroadcastTables:
    """The known state of broadcast tables under one binding of the lanes."""

    tables: tuple[BroadcastTable, ...]
    clock: Callable[[], float] = time.monotonic
    paced: bool = True  # whether another version of a table that changed waits
    lanes: Lanes = field(default_factory=dict)  # those that have tasks
    seen_positions: dict[tuple[str, Partition], int] = field(
        default_factory=dict
    )  # by table: what rows have seen
    _owners: dict[str, str] = field(default_factory=dict)  # task -> processor
    _locations: dict[str, str] = field(default_factory=dict)  # processor -> location, as it says itself
    _writers: dict[str, str] = field(default_factory=dict)  # location -> processor
    _first_writer: str = ""  # of the processors that fill tables, the one that sets bad records aside
    _versions: dict[tuple[str, str], TableVersion] = field(default_factory=dict)  # by table and location
    _seen_by: dict[tuple[str, str], str] = field(
        default_factory=dict
    )  # by table and processor: the version that its last order named
    _ordered: dict[str, float] = field(default_factory=dict)  # by processor: when it had its last order

    def forget(self, lanes: Lanes, contained: ContainedPositions) -> None:
        """Other workers: where they are and what is there has to be reported again."""
        self._note_seen_in_memory(self.lanes.values(), contained)
        self._take_lanes(lanes)
        self._locations, self._versions = {}, {}

    def follow(self, lanes: Lanes, contained: ContainedPositions) -> bool:
        """Take lanes that have come or gone while others go on; whether there were any."""
        before = self.lanes
        self._take_lanes(lanes)
        if self.lanes == before:
            return False
        gone = {name for name in before if self.lanes.get(name) != before[name]}
        self._note_seen_in_memory([before[name] for name in gone], contained)
        for name in gone:
            self._locations.pop(name, None)
        self._choose_writers()
        return True

    def note(self, reports: Collection[TaskReport], contained: ContainedPositions) -> bool:
        """Take what lanes report of where they are, and of versions that they made.

        Whether it was news where a lane is: other lanes than before may fill tables.
        """
        reported = {
            name: report.location
            for report in reports
            if report.location and (name := self._owners.get(report.task))
        }
        is_news = not reported.items() <= self._locations.items()
        if is_news:
            self._locations |= reported
            self._choose_writers()
        for report in reports:
            for table, version in report.published.items():
                self._note_version(self._owners[report.task], report.task, table, version, contained)
        return is_news

    def hosts(self) -> dict[str, list[Partition]]:
        """The partitions that are read for broadcast tables, by the task in whose name a lane reads them."""
        hosted: dict[str, list[Partition]] = {}
        for name in self._locations:
            for table in self.tables:
                if self._fills(name, table):
                    hosted.setdefault(self.lanes[name][0], []).extend(table.partitions)
        return hosted

    @property
    def sets_aside(self) -> str:
        """The task in whose name bad records are set aside; empty until it is known which."""
        return next(iter(self.lanes.get(self._first_writer, ())), "")

    def stores(self) -> dict[str, TurnTakingStore]:
        """The stores that are filled while no rows see them, by the task in whose name they are filled."""
        turning = [table for table in self.tables if table.takes_turns]
        parts = frozenset(p for table in turning for p in table.partitions)
        hosts = {name: self.lanes[name][0] for name in self._locations} if parts else {}
        return {
            host: TurnTakingStore(parts, self._around(name))
            for name, host in hosts.items()
            if self._fills(name, turning[0])
        }

    def waiting(self, filled: FillProgress) -> Iterator[str]:
        """The tasks that have no version yet, or none that contains what their rows have to see."""
        for name, tasks in self.lanes.items():
            if any(self._lacks(name, table, filled) for table in self.tables):
                yield from tasks

    def pressing(self, filled: FillProgress, busy: Collection[str] = ()) -> bool:
        """True if a batch is needed even if there is nothing to read; not for lanes of `busy` tasks."""
        idle = [name for name, tasks in self.lanes.items() if tasks[0] not in busy]
        if any(name not in self._locations for name in idle):
            return True
        hosts, contained = self.hosts(), filled.contained
        for task in (self.lanes[name][0] for name in idle):
            if any(p not in contained.get(task, {}) for p in hosts.get(task, ())):
                return True
        return any(self._due(name, table, filled) for name in idle for table in self.tables)

    def orders(
        self, lanes: Collection[str], version: str, filled: FillProgress, ranges: Iterable[PendingRange] = ()
    ) -> dict[str, tuple[BroadcastOrder, ...]]:
        """The orders for each of these lanes in a batch that reads these ranges.

        `version` names what is made in it. Nothing is said to a lane before it is known who fills its tables.
        """
        soon = filled
        for demand in ranges:
            soon = soon.after(demand.task, {demand.partition: demand.end})
        orders = {
            name: tuple(
                BroadcastOrder(
                    table.name,
                    self._fills(name, table),
                    self._version(name, table),
                    version if self._makes(name, table, soon if table.takes_turns else filled) else "",
                    self._kept(name, table) if self._fills(name, table) else (),
                )
                for table in self.tables
            )
            for name in lanes
            if self.tables and all(self._filler(name, table) for table in self.tables)
        }
        for name, each in orders.items():
            self._ordered[name] = self.clock()
            self._seen_by |= {(order.table, name): order.version for order in each}
        return orders

    def _take_lanes(self, lanes: Lanes) -> None:
        lanes_with_tasks = {name: tasks for name, tasks in lanes.items() if tasks} if self.tables else {}
        if lanes_with_tasks == self.lanes:
            return
        self.lanes = lanes_with_tasks
        self._owners = {task: name for name, tasks in self.lanes.items() for task in tasks}
        self._seen_by = {key: version for key, version in self._seen_by.items() if key[1] in self.lanes}

    def _choose_writers(self) -> None:
        """Have a lane fill tables at each location, once all lanes have said where they are.

        The one before, which has the store open, may be among those that have not.
        """
        if self._locations.keys() == self.lanes.keys():
            self._writers = broadcast_writers(self._locations, self._writers)
            if self._first_writer not in self._writers.values():
                self._first_writer = min(self._writers.values(), default="")

    def _kept(self, name: str, table: BroadcastTable) -> tuple[str, ...]:
        """The versions besides the newest one that lanes may be reading where one is."""
        location = self._locations[name]
        names = {self._seen_by.get((table.name, lane), "") for lane in self._lanes_at(location)}
        return tuple(sorted(names - {"", self._version(name, table)}))

    def _lanes_at(self, location: str) -> list[str]:
        return [name for name, place in self._locations.items() if place == location]

    def _around(self, name: str) -> frozenset[str]:
        """The tasks of all lanes that are where one is."""
        return frozenset(t for lane in self._lanes_at(self._locations[name]) for t in self.lanes[lane])

    def _fills(self, name: str, table: BroadcastTable) -> bool:
        return self._filler(name, table) == name

    def _filler(self, name: str, table: BroadcastTable) -> str | None:
        """The lane that fills a table for a lane; None where it is not known which."""
        if name not in self._locations:
            return None
        filler = name if table.in_memory else self._writers.get(self._locations[name])
        return filler if filler in self._locations else None

    def _version(self, name: str, table: BroadcastTable) -> str:
        version = self._versions.get((table.name, self._locations[name]))
        return version.name if version else ""

    def _lacks(self, name: str, table: BroadcastTable, filled: FillProgress) -> bool:
        """True if rows of a lane have to wait for a table."""
        writer = self._filler(name, table)
        if writer is None:
            return True
        version = self._versions.get((table.name, self._locations[name]))
        contained = self._contained(writer, table, filled)
        if table.versions:
            if self._unseen(writer, table, filled):
                return any(p in filled.ends for p in table.partitions)
            is_complete = contained.keys() == set(table.partitions)
            is_lost = version is None and not table.in_memory
            return not is_complete or is_lost or self._gated(writer, table, filled, contained)
        if table.in_memory:
            return self._gated(writer, table, filled, contained)
        if version is None or self._gated(writer, table, filled, version.positions):
            return True
        return table.before_join and version.positions != contained

    def _makes(self, name: str, table: BroadcastTable, filled: FillProgress) -> bool:
        """True if a lane has to make a version in this batch, or where rows come as versions, may make it."""
        if table.versions and not table.in_memory:
            return self._fills(name, table)
        return self._due(name, table, filled)

    def _due(self, name: str, table: BroadcastTable, filled: FillProgress) -> bool:
        """True if a batch is needed for a version that a lane has to make."""
        if table.in_memory or not self._fills(name, table):
            return False
        version = self._versions.get((table.name, self._locations[name]))
        contained = self._contained(name, table, filled)
        if contained.keys() != set(table.partitions):
            return False
        if table.versions:
            return version is None and not self._unseen(name, table, filled)
        if self._gated(name, table, filled, contained):
            return False
        if version is None or contained == version.positions:
            return version is None
        return table.before_join or not self.paced or self.clock() >= version.next_after

    def _unseen(self, name: str, table: BroadcastTable, filled: FillProgress) -> bool:
        paused = filled.paused_of(self.lanes[name][0])
        return any(p.stream in paused for p in table.partitions)

    def _gated(
        self, name: str, table: BroadcastTable, filled: FillProgress, positions: Mapping[Partition, int]
    ) -> bool:
        required_ends = {p: filled.ends[p] for p in table.partitions if p in filled.ends}
        seen_positions = {
            p: self.seen_positions[table.name, p]
            for p in required_ends
            if (table.name, p) in self.seen_positions
        }
        return bootstrap_gate(required_ends, seen_positions).waits(
            positions, filled.paused_of(self.lanes[name][0])
        )

    def _contained(self, name: str, table: BroadcastTable, filled: FillProgress) -> Mapping[Partition, int]:
        return _of_table(table, filled.contained.get(self.lanes[name][0], {}))

    def _note_version(
        self, name: str, task: str, table: str, version: str, contained: ContainedPositions
    ) -> None:
        now, location = self.clock(), self._locations[name]
        wanted = next(each for each in self.tables if each.name == table)
        positions = {p: contained[task][p] for p in wanted.partitions}
        pause = max(LEAST_SECONDS, _SHARE * (now - self._ordered[name]))
        self._versions[table, location] = TableVersion(version, positions, now + pause)
        self._note_seen(table, positions)

    def _note_seen_in_memory(self, lanes: Iterable[Sequence[str]], contained: ContainedPositions) -> None:
        """Note what rows of lanes, each by its tasks, have seen in memory: what was there in each batch."""
        for tasks in lanes:
            for table in self.tables:
                if table.in_memory:
                    self._note_seen(table.name, _of_table(table, contained.get(tasks[0], {})))

    def _note_seen(self, table: str, positions: Mapping[Partition, int]) -> None:
        for partition, at in positions.items():
            self.seen_positions[table, partition] = max(at, self.seen_positions.get((table, partition), 0))


def _of_table(table: BroadcastTable, positions: Mapping[Partition, int]) -> dict[Partition, int]:
    return {p: positions[p] for p in table.partitions if p in positions}
