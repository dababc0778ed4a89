"""The action on a table's store when it is opened, and the positions from which its streams are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from streamapp.side_inputs.store_validity import StoreOnDisk, invalid_reason
from streamapp.tasks.partition import OffsetSpan, Partition


class StoreAction(StrEnum):
    """The action on a store when it is opened."""

    CREATE = "create"  # no store exists
    RECREATE = "recreate"  # the store is invalid
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class FillingPartition:
    """A partition that fills the table: whether a new store reads all records, and its last position."""

    bootstrap: bool
    held_offsets: OffsetSpan
    last: int | None = None  # the next record by the checkpoints; None for a partition that was never read


@dataclass(frozen=True, slots=True)
class StoreRecovery:
    """The action on a store, and the next record of each partition."""

    action: StoreAction
    positions: Mapping[Partition, int]
    recreate_reason: str = ""  # why a store is recreated


def recover_store(
    store: StoreOnDisk | None,
    sources: Mapping[Partition, FillingPartition],
    *,
    now_ms: int,
    retention_ms: int,
) -> StoreRecovery:
    """The action for a store and its start positions; `store` is None for a missing or in-memory store.

    A new store reads streams with `bootstrap` from the oldest record, and others from the checkpoint's
    position. A valid store continues from its positions; an added partition begins at its oldest record.
    """
    held_offsets = {partition: source.held_offsets for partition, source in sources.items()}
    reason = invalid_reason(store, held_offsets, now_ms, retention_ms) if store else None
    if store is None or reason is not None:
        action = StoreAction.CREATE if store is None else StoreAction.RECREATE
        return StoreRecovery(
            action,
            {partition: _first_position(source) for partition, source in sources.items()},
            reason or "",
        )
    positions = {
        partition: resume_position(store.positions.get(partition), source.held_offsets.oldest)
        for partition, source in sources.items()
    }
    return StoreRecovery(StoreAction.KEEP, positions)


def resume_position(position: int | None, oldest: int) -> int:
    """The next record to read: the store's position, but not before the oldest record."""
    return oldest if position is None else max(position, oldest)


def _first_position(source: FillingPartition) -> int:
    if source.bootstrap or source.last is None:
        return source.held_offsets.oldest
    return min(max(source.last, source.held_offsets.oldest), source.held_offsets.end)
