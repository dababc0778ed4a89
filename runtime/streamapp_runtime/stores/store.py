"""What every store can do. A store is one task's part of one table: bytes to bytes, in order of the key.

Writes of a batch stay pending under the name of their attempt until the next batch says which attempt was
committed: then that one is applied together with its mark, or all are dropped. What a process leaves pending
when it dies is gone, and the store is behind its checkpoint by what the changelog still holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Mark:
    """What a store contains: everything up to a position of its changelog, as of one checkpoint."""

    run_id: str
    task: str
    table: str
    schema: str  # hash of the table's columns: bytes of another schema mean something else
    attempt: str  # the committed attempt whose writes were applied last
    changelog: int  # changelog entries below this position are contained
    written_ms: int = 0  # when this was written


class StoreDamagedError(Exception):
    """The directory holds something that cannot be trusted; it has to be rebuilt."""


class StoreBusyError(Exception):
    """Another live process holds the store."""


class Store(Protocol):
    """One open store. Keys and values are columns of an Arrow binary type; a null value deletes."""

    @property
    def mark(self) -> Mark | None:
        """What the store contains; None for a new one."""

    def get(self, keys: pa.Array) -> pa.Array:
        """The value of each key, null where there is none; pending writes are seen."""

    def put(self, keys: pa.Array, values: pa.Array) -> None:
        """Write, pending. Of a key that stands several times the last one counts."""

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """The entries with start <= key < end in order of the key; pending writes are seen."""

    def apply(self, mark: Mark) -> None:
        """Make the pending writes last, together with the mark, or neither of them."""

    def drop(self) -> None:
        """Forget the pending writes."""

    def load(self, keys: pa.Array, values: pa.Array) -> None:
        """Write many entries at once, past the pending ones: for restoring."""

    def set_mark(self, mark: Mark) -> None:
        """Write the mark alone, after entries were loaded."""

    def count(self) -> int:
        """How many entries there are, roughly for RocksDB."""

    def size_bytes(self) -> int:
        """What it takes on disk, or in memory."""

    def close(self) -> None:
        """Let go of it; pending writes are dropped."""
