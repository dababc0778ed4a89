"""Versions of bounded data sets, in plain Python: which records a table shows, and in which steps."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

ENDLESS: Final = 2**40
SideRecord = tuple[int, int, int, bytes | None, bool, bool]
"""Number, step, partition and key of a record, whether it deletes its key, whether it ends a version."""
Shown = tuple[int, int, int]
"""Number of a record, the step in which its version became whole, and the one in which the next did."""


@dataclass(slots=True)
class _Filling:
    """The partitions of one task: what is not read yet, what the next version has, and where it has ended."""

    unread: dict[int, deque[SideRecord]] = field(default_factory=lambda: defaultdict(deque))
    rows: dict[bytes, int] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    visible: dict[int, int] = field(default_factory=dict)  # by record: since which step

    def read(self, partitions: Collection[int]) -> bool:
        """Read each partition up to the end of the version; true where it is whole."""
        for partition in partitions:
            while partition not in self.ended and self.unread[partition]:
                number, _, _, key, deletes, ends = self.unread[partition].popleft()
                if ends:
                    self.ended.add(partition)
                elif key is not None and deletes:
                    self.rows.pop(key, None)
                elif key is not None:
                    self.rows[key] = number
        return self.ended.issuperset(partitions)

    def swap(self, step: int) -> list[Shown]:
        """Show the version that is whole; gives what was shown until then."""
        gone = [(number, since, step) for number, since in self.visible.items() if since < step]
        self.visible = dict.fromkeys(self.rows.values(), step)
        self.rows, self.ended = {}, set()
        return gone


@dataclass(frozen=True, slots=True)
class WholeVersions:
    """What is shown of records, and in which step each task has its first version."""

    shown: list[Shown]
    first: dict[int, int]


def whole_versions(
    records: Sequence[SideRecord], steps: int, tasks: int, partitions_at: Callable[[int], int]
) -> WholeVersions:
    """The versions that are seen by each of so many tasks, of which each has its own partitions."""
    fillings, versions = [_Filling() for _ in range(tasks)], WholeVersions([], {})
    for step in range(steps):
        for record in records:
            if record[1] == step:
                fillings[record[2] % tasks].unread[record[2]].append(record)
        for task, filling in enumerate(fillings):
            while filling.read(range(task, partitions_at(step), tasks)):
                versions.shown.extend(filling.swap(step))
                versions.first.setdefault(task, step)
    for filling in fillings:
        versions.shown.extend((number, since, ENDLESS) for number, since in filling.visible.items())
    return versions
