"""Broadcast tables: which lane fills each, which version of it every lane reads, when the next one is made.

A location, which is where the state folder is the same, has one store of such a table and one lane that fills
it. What rows see are versions of it: copies that never change. A table in memory is filled by each lane.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from streamapp.adjunct.gate import gate
from streamapp.adjunct.writers import writers
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.roster import Lanes
from streamapp_runtime.lanes.orders import Report, SharedOrder

LEAST_SECONDS = 1.0
"""A version is copied no more often, however fast the table changes."""
_SHARE = 10.0
"""And the copying takes no more than a tenth of the time."""

Contained = Mapping[str, Mapping[Partition, int]]
"""By task: the next record of each partition that fills a table."""


@dataclass(frozen=True, slots=True)
class SharedTable:
    """A table that is whole everywhere, and what fills it."""

    name: str
    partitions: tuple[Partition, ...]
    in_memory: bool


@dataclass(frozen=True, slots=True)
class Version:
    """A copy that rows may see."""

    name: str
    positions: Mapping[Partition, int]
    next_after: float  # when another may be made


@dataclass(slots=True)
class Sharing:
    """What is known of broadcast tables under one crew of lanes."""

    tables: tuple[SharedTable, ...]
    clock: Callable[[], float] = time.monotonic
    lanes: Lanes = field(default_factory=dict)  # those that have tasks
    seen: dict[tuple[str, Partition], int] = field(default_factory=dict)  # by table: what rows have seen
    _locations: dict[str, str] = field(default_factory=dict)  # processor -> location, as it says itself
    _writers: dict[str, str] = field(default_factory=dict)  # location -> processor
    _versions: dict[tuple[str, str], Version] = field(default_factory=dict)  # by table and location
    _ordered: float = 0.0  # when a version was last asked for

    def forget(self, lanes: Lanes, contained: Contained) -> None:
        """Other workers: where they are and what is there has to be heard again."""
        for name in self.lanes:
            for table in self.tables:
                if table.in_memory:  # each batch has seen what was there then
                    self._note_seen(table.name, self._filled(name, table, contained))
        self.lanes = {name: tasks for name, tasks in lanes.items() if tasks} if self.tables else {}
        self._locations, self._versions = {}, {}

    def hear(self, reports: Collection[Report], contained: Contained) -> None:
        """Take what lanes say of where they are, and of versions that they made."""
        owners = {task: name for name, tasks in self.lanes.items() for task in tasks}
        for report in reports:
            name = owners.get(report.task, "")
            if name and report.location:
                self._locations[name] = report.location
        if self.lanes and self._locations.keys() == self.lanes.keys():
            self._writers = writers(self._locations, self._writers)
        for report in reports:
            for table, version in report.published.items():
                self._note(report.task, self._locations[owners[report.task]], table, version, contained)

    @property
    def settled(self) -> bool:
        """Whether all lanes have said where they are."""
        return self._locations.keys() == self.lanes.keys()

    def hosts(self) -> dict[str, list[Partition]]:
        """What is read for broadcast tables, by the task in whose name a lane reads it."""
        found: dict[str, list[Partition]] = {}
        for name, tasks in self.lanes.items() if self.settled else ():
            for table in self.tables:
                if self._fills(name, table):
                    found.setdefault(tasks[0], []).extend(table.partitions)
        return found

    def waiting(self, ends: Mapping[Partition, int], contained: Contained) -> Iterator[str]:
        """The tasks that have no version yet, or none that contains what their rows have to see."""
        for name, tasks in self.lanes.items():
            if any(self._lacks(name, table, ends, contained) for table in self.tables):
                yield from tasks

    def pressing(self, ends: Mapping[Partition, int], contained: Contained) -> bool:
        """Whether a batch is needed even if there is nothing to read."""
        if not self.settled:
            return True
        hosts = self.hosts()
        unknown = any(p not in contained.get(task, {}) for task, parts in hosts.items() for p in parts)
        return unknown or any(self._due(n, t, ends, contained) for n in self.lanes for t in self.tables)

    def orders(
        self, version: str, ends: Mapping[Partition, int], contained: Contained
    ) -> dict[str, tuple[SharedOrder, ...]]:
        """What each lane has to do; `version` names those that are made in this batch."""
        if not self.settled:
            return {}
        self._ordered = self.clock()
        return {
            name: tuple(
                SharedOrder(
                    table.name,
                    self._fills(name, table),
                    self._version(name, table),
                    version if self._due(name, table, ends, contained) else "",
                )
                for table in self.tables
            )
            for name in self.lanes
        }

    def _fills(self, name: str, table: SharedTable) -> bool:
        return table.in_memory or self._writers.get(self._locations[name]) == name

    def _version(self, name: str, table: SharedTable) -> str:
        found = self._versions.get((table.name, self._locations[name]))
        return found.name if found else ""

    def _lacks(
        self, name: str, table: SharedTable, ends: Mapping[Partition, int], contained: Contained
    ) -> bool:
        if not self.settled:
            return True
        version = self._versions.get((table.name, self._locations[name]))
        if table.in_memory:
            return self._gated(table, ends, self._filled(name, table, contained))
        return version is None or self._gated(table, ends, version.positions)

    def _due(
        self, name: str, table: SharedTable, ends: Mapping[Partition, int], contained: Contained
    ) -> bool:
        """Whether a lane has to make a version now."""
        if table.in_memory or not self._fills(name, table):
            return False
        filled = self._filled(name, table, contained)
        if filled.keys() != set(table.partitions) or self._gated(table, ends, filled):
            return False
        version = self._versions.get((table.name, self._locations[name]))
        return version is None or (filled != version.positions and self.clock() >= version.next_after)

    def _gated(
        self, table: SharedTable, ends: Mapping[Partition, int], positions: Mapping[Partition, int]
    ) -> bool:
        wanted = {p: ends[p] for p in table.partitions if p in ends}
        seen = {p: self.seen[table.name, p] for p in wanted if (table.name, p) in self.seen}
        return gate(wanted, seen).waits(positions)

    def _filled(self, name: str, table: SharedTable, contained: Contained) -> Mapping[Partition, int]:
        known = contained.get(self.lanes[name][0], {})
        return {p: known[p] for p in table.partitions if p in known}

    def _note(self, task: str, location: str, table: str, version: str, contained: Contained) -> None:
        now = self.clock()
        wanted = next(each for each in self.tables if each.name == table)
        positions = {p: contained[task][p] for p in wanted.partitions}
        pause = max(LEAST_SECONDS, _SHARE * (now - self._ordered))
        self._versions[table, location] = Version(version, positions, now + pause)
        self._note_seen(table, positions)

    def _note_seen(self, table: str, positions: Mapping[Partition, int]) -> None:
        for partition, at in positions.items():
            self.seen[table, partition] = max(at, self.seen.get((table, partition), 0))
