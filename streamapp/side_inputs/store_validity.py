"""The validity of an existing store: an invalid one has to be filled again.

A table that side inputs fill has no changelog: it is filled again from its streams. So the streams must still
hold the deletions that were written since the store was last used.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp.tasks.partition import OffsetSpan, Partition

REFRESHES_PER_RETENTION = 4
"""How often within its retention a store in use refreshes its time."""


@dataclass(frozen=True, slots=True)
class StoreOnDisk:
    """The content of a store's mark: its time, and the next record of each partition."""

    written_ms: int
    positions: Mapping[Partition, int]


def is_stale(age_ms: int, retention_ms: int) -> bool:
    """True if a store was unused for too long."""
    return age_ms >= retention_ms


def is_refresh_due(age_ms: int, retention_ms: int) -> bool:
    """True if a store in use should refresh its time: a quiet stream must not make the store stale."""
    return age_ms * REFRESHES_PER_RETENTION >= retention_ms


def invalid_reason(
    store: StoreOnDisk, held_offsets: Mapping[Partition, OffsetSpan], now_ms: int, retention_ms: int
) -> str | None:
    """Why a store is invalid; None for a valid one.

    `held_offsets` has the partitions that fill the table now. A partition that only `held_offsets` has was
    added. A partition that only the store has left rows in it that would never be deleted.
    """
    age_ms = now_ms - store.written_ms
    if is_stale(age_ms, retention_ms):
        return f"it was left alone for {age_ms} ms, and is trusted for {retention_ms}"
    if not store.positions:
        return "it does not say what it contains"
    if removed := sorted(store.positions.keys() - held_offsets.keys()):
        return f"it contains {removed[0]}, which is not its own any more"
    for partition, position in sorted(store.positions.items()):
        offsets = held_offsets[partition]
        if position < offsets.oldest:
            return f"{partition} now begins at {offsets.oldest}; the store contains records before {position}"
        if position > offsets.end:
            return f"{partition} now ends at {offsets.end}; the store contains records before {position}"
    return None
