"""What is done with a table's store when it is opened, and from where its streams are read then."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from streamapp.adjunct.validity import Extent, Found, doubt
from streamapp.tasks.partition import Partition


class Action(StrEnum):
    """What becomes of a store."""

    CREATE = "create"  # there was none
    RECREATE = "recreate"  # there was one that cannot be gone on with
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Source:
    """A partition that fills the table: whether a new store needs all of it, and how far it was ever read."""

    bootstrap: bool
    held: Extent
    last: int | None = None  # the next record by the checkpoints; None where nobody has read it


@dataclass(frozen=True, slots=True)
class Recovery:
    """What to do, and the next record of each partition."""

    action: Action
    positions: Mapping[Partition, int]
    doubt: str = ""  # why a store is made again


def recover(
    found: Found | None, sources: Mapping[Partition, Source], *, now_ms: int, retention_ms: int
) -> Recovery:
    """The cell of the matrix that a store is in. A store in memory is never found.

    A new store is filled from the beginning where its stream says bootstrap, else from where the checkpoint
    says that reading goes on. One that is valid goes on from what it contains; a partition that was added
    begins at its oldest record.
    """
    held = {partition: source.held for partition, source in sources.items()}
    why = doubt(found, held, now_ms, retention_ms) if found else None
    if found is None or why is not None:
        action = Action.CREATE if found is None else Action.RECREATE
        return Recovery(action, {p: _begun(source) for p, source in sources.items()}, why or "")
    kept = {p: resumed(found.positions.get(p), source.held.oldest) for p, source in sources.items()}
    return Recovery(Action.KEEP, kept)


def resumed(position: int | None, oldest: int) -> int:
    """Where a partition is read on: behind what is contained, and not before what is still there."""
    return oldest if position is None else max(position, oldest)


def _begun(source: Source) -> int:
    if source.bootstrap or source.last is None:
        return source.held.oldest
    return min(max(source.last, source.held.oldest), source.held.end)
