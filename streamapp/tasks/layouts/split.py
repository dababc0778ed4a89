"""One growth of a stream, as far as the order of keys across it is concerned.

After a growth, producers move to the new count one by one. A key that moves from an old partition to a new
one has its older records in the old one. The split offset of an old partition is its end a while after the
growth was seen, when no producer uses the old count any more: past it, all older records of moved keys are
read.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from streamapp.tasks.partition import Partition


class KeyMovement(StrEnum):
    """The movement of the keys of old partitions to new ones."""

    EXACT = "exact"  # a new partition took keys of one old one: its index modulo the old count
    MAPPED = "mapped"  # new partitions took keys of old ones, as the user's algorithm says
    MIXED = "mixed"  # the count is no multiple of the last one: old partitions exchanged keys as well


@dataclass(frozen=True, slots=True)
class Split:
    """A growth of one stream from `before` to `after` partitions; until it has settled, without offsets."""

    stream: str
    before: int
    after: int
    seen_at: float
    parting: KeyMovement = KeyMovement.EXACT
    offsets: tuple[int, ...] | None = None  # by old partition

    @property
    def order_note(self) -> str:
        """The note on the order of records across the growth; empty where the order is kept."""
        return "" if self.keeps_order else ", and the order of a key's records across the growth is not kept"

    @property
    def keeps_order(self) -> bool:
        """True if every key's records stay in order: not for keys that moved between old partitions."""
        return self.parting is not KeyMovement.MIXED


def is_split_due(split: Split, now: float, settle: float) -> bool:
    """True if the end positions of the old partitions may now be taken as split offsets."""
    return split.offsets is None and now >= split.seen_at + settle


def settle_split(split: Split, ends: Mapping[Partition, int]) -> Split:
    """The split with its offsets: the ends of all old partitions, none of which may be left out."""
    offsets = tuple(ends[Partition(split.stream, index)] for index in range(split.before))
    return replace(split, offsets=offsets)


def settled_again(splits: Collection[Split], streams: Collection[str], now: float) -> tuple[Split, ...]:
    """The splits after these streams were recreated: where partitions of the last ones ended says nothing.

    Nor is it known when the new stream grew, and so its producers are given the time of a growth.
    """
    return tuple(
        replace(split, seen_at=now, offsets=None) if split.stream in streams else split for split in splits
    )


def within_ends(splits: Collection[Split], ends: Mapping[Partition, int]) -> tuple[Split, ...]:
    """The splits with no offset beyond an end: records that are lost are not waited for."""
    return tuple(
        split
        if split.offsets is None
        else replace(
            split,
            offsets=tuple(
                min(offset, ends.get(Partition(split.stream, index), offset))
                for index, offset in enumerate(split.offsets)
            ),
        )
        for split in splits
    )
