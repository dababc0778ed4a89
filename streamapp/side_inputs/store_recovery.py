"""What is done with a table's store when it is opened, and from where its streams are read then."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from streamapp.side_inputs.store_validity import FoundStore, HeldOffsets, invalid_reason
from streamapp.tasks.partition import Partition


class StoreAction(StrEnum):
    """What becomes of a store."""

    CREATE = "create"  # there was none
    RECREATE = "recreate"  # there was one that cannot be gone on with
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class FillingPartition:
    """A partition that fills the table: whether a new store needs all of it, and how far it was ever read."""

    bootstrap: bool
    held: HeldOffsets
    last: int | None = None  # the next record by the checkpoints; None where nobody has read it


@dataclass(frozen=True, slots=True)
class StoreRecovery:
    """What to do, and the next record of each partition."""

    action: StoreAction
    positions: Mapping[Partition, int]
    doubt: str = ""  # why a store is made again


def recover_store(
    found: FoundStore | None, sources: Mapping[Partition, FillingPartition], *, now_ms: int, retention_ms: int
) -> StoreRecovery:
    """The cell of the matrix that a store is in. A store in memory is never found.

    A new store is filled from the beginning where its stream says bootstrap, else from where the checkpoint
    says that reading goes on. One that is valid goes on from what it contains; a partition that was added
    begins at its oldest record.
    """
    held = {partition: source.held for partition, source in sources.items()}
    why = invalid_reason(found, held, now_ms, retention_ms) if found else None
    if found is None or why is not None:
        action = StoreAction.CREATE if found is None else StoreAction.RECREATE
        return StoreRecovery(action, {p: _begun(source) for p, source in sources.items()}, why or "")
    kept = {p: resume_position(found.positions.get(p), source.held.oldest) for p, source in sources.items()}
    return StoreRecovery(StoreAction.KEEP, kept)


def resume_position(position: int | None, oldest: int) -> int:
    """Where a partition is read on: behind what is contained, and not before what is still there."""
    return oldest if position is None else max(position, oldest)


def _begun(source: FillingPartition) -> int:
    if source.bootstrap or source.last is None:
        return source.held.oldest
    return min(max(source.last, source.held.oldest), source.held.end)
