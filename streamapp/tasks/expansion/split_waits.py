"""The moment from which a partition of a growth may be read, and the watermark with which it starts.

The partition opens when all older partitions of its task have passed the split offset. An older partition may
belong to an earlier growth and wait itself, so several growths chain without further rules.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamapp.tasks.layouts.split import KeyMovement, Split
from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class SplitWait:
    """A partition that has to be read up to the position `until`; None while the position is unknown."""

    partition: Partition
    until: int | None


def split_waits(
    partition: Partition,
    of_task: Iterable[Partition],
    splits: Iterable[Split],
    positions: Mapping[Partition, int],
) -> tuple[SplitWait, ...]:
    """The waits of a partition, by its task's positions in older partitions; empty for an open partition."""
    split = _split_of(partition, splits)
    if split is None:
        return ()
    offsets = split.offsets
    waits = (
        SplitWait(older, None if offsets is None else offsets[older.index])
        for older in sorted(_older_partitions(split, of_task))
    )
    return tuple(
        wait for wait in waits if wait.until is None or positions.get(wait.partition, 0) < wait.until
    )


def watermark_source(
    partition: Partition,
    of_task: Collection[Partition],
    splits: Sequence[Split],
    watermarks: Mapping[Partition, int | None],
) -> Partition | None:
    """The partition itself or, before it is first read, the one with whose watermark it starts.

    Of several partitions that held its keys it is the one with the lowest watermark, or with none; None if
    one of them has not been read.
    """
    if partition in watermarks:
        return partition
    split = _split_of(partition, splits)
    if split is None:
        return None
    if split.parting is KeyMovement.EXACT:
        parents = [Partition(split.stream, partition.index % split.before)]
    else:
        parents = _older_partitions(split, of_task)
    sources = [watermark_source(parent, of_task, splits, watermarks) for parent in parents]
    known_sources = [source for source in sources if source is not None]
    if not known_sources or len(known_sources) < len(sources):
        return None
    return min(known_sources, key=lambda one: (watermarks[one] is not None, watermarks[one] or 0))


def _split_of(partition: Partition, splits: Iterable[Split]) -> Split | None:
    for split in splits:
        if split.stream == partition.stream and split.before <= partition.index < split.after:
            return split
    return None


def _older_partitions(split: Split, of_task: Iterable[Partition]) -> list[Partition]:
    return [other for other in of_task if other.stream == split.stream and other.index < split.before]
