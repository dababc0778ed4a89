"""The records that each task reads in the next batch: what is furthest down first, within a budget.

Rows that are already on their way through the app go before new ones, so that nothing piles up between its
stages. Tables that have to be complete before they are joined are filled without being starved.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.driver.inputs.read_positions import ReadPositions

BOOTSTRAP_SHARE = 4
"""A quarter of the budget is kept for tables that are being filled, however much else there is to read."""


@dataclass(frozen=True, slots=True)
class ReadOrder:
    """The app's streams in the order in which they are read, and which of them wait for tables."""

    priority: Sequence[str]  # deepest first; a stream that is not named comes last
    bootstrap: frozenset[str] = frozenset()  # side inputs that main inputs wait for
    side: frozenset[str] = frozenset()  # all side inputs: they wait for nothing
    retained: Mapping[str, int] = field(default_factory=dict)
    """Streams of the app's own that others read too: how old their records get, in milliseconds."""
    histories: Mapping[str, str] = field(default_factory=dict)  # by stream, the table that is read before it


@dataclass(frozen=True, slots=True)
class PendingRange:
    """The range that one task could read: from its position to the partition's end."""

    task: str
    partition: Partition
    start: int
    end: int

    @property
    def lag(self) -> int:
        """The length of the range, in offsets."""
        return self.end - self.start


def pending_ranges(
    tasks: Mapping[str, Collection[Partition]],
    positions: ReadPositions,
    spans: Mapping[Partition, OffsetSpan],
) -> list[PendingRange]:
    """Everything that could be read now."""
    ranges = []
    known = positions.next_of(tasks)
    for task, partitions in tasks.items():
        for partition in partitions:
            span = spans[partition]
            start = known.get((task, partition), span.oldest)
            if span.end > start:
                ranges.append(PendingRange(task, partition, start, span.end))
    return ranges


def allocate(
    pending: Iterable[PendingRange], budget: int, order: ReadOrder, waiting: Collection[str]
) -> list[PendingRange]:
    """The ranges cut to the budget; tasks that wait for their tables read side inputs only."""
    rank = {stream: place for place, stream in enumerate(order.priority)}
    last = len(rank)
    open_now = [d for d in pending if d.partition.stream in order.side or d.task not in waiting]
    filling = [d for d in open_now if d.partition.stream in order.bootstrap]
    others = [d for d in open_now if d.partition.stream not in order.bootstrap]
    reserved = min(sum(d.lag for d in filling), max(1, budget // BOOTSTRAP_SHARE)) if filling else 0
    allocated: list[PendingRange] = []
    left = budget - reserved
    for place in sorted({rank.get(d.partition.stream, last) for d in others}):
        level = _level([d for d in others if rank.get(d.partition.stream, last) == place], left)
        allocated += level
        left -= sum(d.lag for d in level)
    return allocated + _level(filling, left + reserved)


def within_back_pressure(
    ranges: Iterable[PendingRange], of_busy_tasks: Iterable[PendingRange], most: int, order: ReadOrder
) -> list[PendingRange]:
    """Those of the ranges whose rows find room behind them, while some lanes take longer than others.

    Where more than `most` records of one of the app's own partitions wait for a task that is busy, nothing is
    read of the streams above: a lane that is slow would be sent more than it ever reads.
    """
    rank = {stream: place for place, stream in enumerate(order.priority)}
    full_streams = {d.partition.stream for d in of_busy_tasks if d.lag > most} & rank.keys()
    deepest, last = min((rank[stream] for stream in full_streams), default=len(rank)), len(rank)
    return [
        one
        for one in ranges
        if one.partition.stream in order.side or rank.get(one.partition.stream, last) <= deepest
    ]


def _level(pending: list[PendingRange], budget: int) -> list[PendingRange]:
    """As much for each as there is, and no more for any than for another that has more to read."""
    allocated: list[PendingRange] = []
    left = budget
    for place, one in enumerate(sorted(pending, key=lambda r: (r.lag, r.partition))):
        share = left // (len(pending) - place)
        rows = min(one.lag, share)
        if rows > 0:
            allocated.append(PendingRange(one.task, one.partition, one.start, one.start + rows))
            left -= rows
    return allocated
