"""Whether a store that was found may be gone on with, or has to be filled anew.

A table that side inputs fill has no changelog: its streams are what it is filled from again. So what was
deleted while nobody read them must still be there to be seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp.tasks.partition import Partition

REFRESHES_PER_RETENTION = 4
"""A store in use notes that it is followed so many times within its retention."""


@dataclass(frozen=True, slots=True)
class HeldOffsets:
    """What a partition holds: offsets from `oldest` up to, and without, `end`."""

    oldest: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundStore:
    """What a store's mark says: when it was written, and the next record of each partition."""

    written_ms: int
    positions: Mapping[Partition, int]


def is_stale(age_ms: int, retention_ms: int) -> bool:
    """Whether a store was left alone for too long."""
    return age_ms >= retention_ms


def is_refresh_due(age_ms: int, retention_ms: int) -> bool:
    """Whether a store in use should note again that it is followed: a quiet stream must not make it stale."""
    return age_ms * REFRESHES_PER_RETENTION >= retention_ms


def invalid_reason(
    found: FoundStore, held: Mapping[Partition, HeldOffsets], now_ms: int, retention_ms: int
) -> str | None:
    """Why a store cannot be gone on with; None where it can.

    `held` has the partitions that the table is filled from now. One that the store does not know yet is one
    that was added; one that only the store knows left rows in it that nobody would delete any more.
    """
    age = now_ms - found.written_ms
    if is_stale(age, retention_ms):
        return f"it was left alone for {age} ms, and is trusted for {retention_ms}"
    if not found.positions:
        return "it does not say what it contains"
    if gone := sorted(found.positions.keys() - held.keys()):
        return f"it contains {gone[0]}, which is not its own any more"
    for partition, position in sorted(found.positions.items()):
        extent = held[partition]
        if position < extent.oldest:
            return f"{partition} now begins at {extent.oldest}, and it contains what lies before {position}"
        if position > extent.end:
            return f"{partition} now ends at {extent.end}, and it contains what lies before {position}"
    return None
