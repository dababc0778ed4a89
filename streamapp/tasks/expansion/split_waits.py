"""When a partition that came with a growth may be read, and from which watermark it starts.

It opens when all older partitions of its task have passed the split offset. An older one may itself have come
with an earlier growth and be waiting, so several growths chain without a word about it here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamapp.tasks.layouts.split import KeyMovement, Split
from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class SplitWait:
    """A partition that has to be read up to a position first; None while that position is not known yet."""

    partition: Partition
    until: int | None


def split_waits(
    partition: Partition,
    of_task: Iterable[Partition],
    splits: Iterable[Split],
    positions: Mapping[Partition, int],
) -> tuple[SplitWait, ...]:
    """What a partition still waits for, given where its task is in the others; nothing means it is open."""
    split = _birth(partition, splits)
    if split is None:
        return ()
    offsets = split.offsets
    pending = (
        SplitWait(older, None if offsets is None else offsets[older.index])
        for older in sorted(_older(split, of_task))
    )
    return tuple(
        wait for wait in pending if wait.until is None or positions.get(wait.partition, 0) < wait.until
    )


def unfinished_splits(splits: Iterable[Split], positions: Mapping[Partition, int]) -> tuple[Split, ...]:
    """The splits that some partition may still be waiting for; the others need not be remembered."""
    return tuple(split for split in splits if not _passed(split, positions))


def inherited_watermark(
    partition: Partition,
    of_task: Sequence[Partition],
    splits: Sequence[Split],
    watermarks: Mapping[Partition, int],
) -> int | None:
    """The watermark a partition has or, before its first record, takes over from where its keys came from.

    With several such partitions it is the lowest; None where one of them has none.
    """
    if partition in watermarks:
        return watermarks[partition]
    split = _birth(partition, splits)
    if split is None:
        return None
    if split.parting is KeyMovement.EXACT:
        parents = [Partition(split.stream, partition.index % split.before)]
    else:
        parents = _older(split, of_task)
    inherited = [inherited_watermark(parent, of_task, splits, watermarks) for parent in parents]
    known = [watermark for watermark in inherited if watermark is not None]
    return min(known) if known and len(known) == len(inherited) else None


def _birth(partition: Partition, splits: Iterable[Split]) -> Split | None:
    for split in splits:
        if split.stream == partition.stream and split.before <= partition.index < split.after:
            return split
    return None


def _older(split: Split, of_task: Iterable[Partition]) -> list[Partition]:
    return [other for other in of_task if other.stream == split.stream and other.index < split.before]


def _passed(split: Split, positions: Mapping[Partition, int]) -> bool:
    return split.offsets is not None and all(
        positions.get(Partition(split.stream, index), 0) >= offset
        for index, offset in enumerate(split.offsets)
    )
