"""Partitions that have records and are not read, though they wait for nothing that is named.

No error says so, and an app that reads all other partitions looks well. The rule asks for no cause: a wait
that nothing ends, an order of reading that never comes to a partition, a fault of the engine.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from streamapp.plan.render.wording import listed
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, ReadOrder

UNREAD_SECONDS: Final = 60.0
"""How long records of a partition may be passed over without a word."""
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class UnreadPartition:
    """A partition of which a task is given nothing, though there are records and the task can work."""

    task: str
    partition: Partition
    wait: str = ""  # for what nothing brings about; empty where it waits for nothing

    def __str__(self) -> str:
        return f"{self.partition}{self.wait and f', which {self.wait}'}"


def passed_over(
    readable: Iterable[PendingRange],
    ranges: Collection[PendingRange],
    most: int,
    order: ReadOrder,
    filling: Collection[str] = (),
) -> list[UnreadPartition]:
    """The partitions that a batch of these ranges does not read, of those that it might.

    Where `most` records of the app's own streams are read, those behind them wait for these. The rows of
    tasks whose tables are `filling` wait for that.
    """
    rank, last = {stream: place for place, stream in enumerate(order.priority)}, len(order.priority)
    is_full = sum(one.lag for one in ranges) >= most
    read = {(one.task, one.partition) for one in ranges}
    read_ranks = {rank.get(one.partition.stream, last) for one in ranges}
    return [
        UnreadPartition(one.task, one.partition)
        for one in readable
        if (one.task, one.partition) not in read
        and not (is_full and rank.get(one.partition.stream, last) not in read_ranks)
        and (one.task not in filling or one.partition.stream in order.side)
    ]


def unread_since(
    before: Mapping[UnreadPartition, float],
    partitions: Iterable[UnreadPartition],
    busy: Collection[str],
    now: float,
) -> dict[UnreadPartition, float]:
    """Since when each partition is passed over; it is not known of those of busy tasks, and so it stays."""
    of_busy = {one: since for one, since in before.items() if one.task in busy}
    return of_busy | {one: before.get(one, now) for one in partitions}


@dataclass(slots=True)
class UnreadPartitionWatch:
    """Notes which partitions have been passed over for long."""

    clock: Callable[[], float] = time.monotonic
    changed: Callable[[tuple[UnreadPartition, ...]], None] = lambda _: None  # called with those that last
    lasting: tuple[UnreadPartition, ...] = ()
    _since: Mapping[UnreadPartition, float] = field(default_factory=dict)

    def look(self, partitions: Sequence[UnreadPartition], busy: Collection[str] = ()) -> None:
        """Take what a look at what there is to read has passed over."""
        now = self.clock()
        self._since = unread_since(self._since, partitions, busy, now)
        lasting = [one for one, since in self._since.items() if now - since >= UNREAD_SECONDS]
        before = self.lasting
        self.lasting = tuple(sorted(lasting, key=lambda one: (one.partition, one.task)))
        if self.lasting != before:
            self.changed(self.lasting)

    def forget(self) -> None:
        """Start again: nothing was read meanwhile, for a reason that was said."""
        self._since = {}


def unread_partitions_text(partitions: Collection[UnreadPartition]) -> str:
    """The partitions that are not read, and what they wait for."""
    names = listed(list(dict.fromkeys(map(str, partitions))), _MOST_NAMED)
    return (
        f"records have not been read for a minute, and nothing is known that holds them up: {names};"
        " a restart looks at all partitions again"
    )
