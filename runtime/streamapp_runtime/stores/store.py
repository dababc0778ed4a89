"""The interface of every store. A store is one task's part of one table: bytes to bytes, in order of the key.

Writes of a batch stay pending under the name of their attempt until the next batch says which attempt was
committed: then that one is applied together with its mark, or all are dropped. What a process leaves pending
when it dies is gone, and the store is behind its checkpoint by what the changelog still holds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import pyarrow as pa

from streamapp.spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """Whose store it is. Bytes of another identity mean something else."""

    run_id: str
    task: str
    table: str
    schema: str  # hash of the table's columns


@dataclass(frozen=True, slots=True)
class StoreMark:
    """The contents of a store: everything up to a position of its changelog, as of one checkpoint."""

    run_id: str
    task: str
    table: str
    schema: str  # hash of the table's columns: bytes of another schema mean something else
    attempt: str  # the committed attempt whose writes were applied last
    changelog: int  # changelog entries below this position are contained
    written_ms: int = 0  # when this was written
    positions: Mapping[str, int] = field(
        default_factory=dict
    )  # of side inputs: what lies before is contained
    version: str = ""  # of a bounded data set: how far the version is that is filled

    @property
    def identity(self) -> StoreIdentity:
        """Whose store this mark is of."""
        return StoreIdentity(self.run_id, self.task, self.table, self.schema)


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """The memory and address space that a store may take, and whether a write waits for the disk."""

    cached_bytes: int = 32 << 20  # read cache of one store, in this process
    block_cache_bytes: int = 64 << 20  # RocksDB: blocks of all stores of this process together
    write_buffer_bytes: int = 16 << 20  # RocksDB: what a store gathers before it writes a file
    map_bytes: int = 4 << 30  # LMDB: address space at first; it grows
    synced: bool = False  # each apply waits for the disk: an LMDB store then outlives a loss of power


class StoreError(Exception):
    """Something is wrong with a store: why, and what would fix it."""

    def __init__(self, reason: Reason, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.reason = reason
        self.message = message
        self.hint = hint


class StoreDamagedError(StoreError):
    """The directory holds something that cannot be trusted; it has to be rebuilt."""

    def __init__(self, message: str, reason: Reason = Reason.STORE_DAMAGED) -> None:
        super().__init__(reason, message, "it has to be emptied and restored from its changelog")


class StoreBusyError(StoreError):
    """Another live process holds the store."""

    def __init__(self, directory: str, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        message = f"{directory} is held by {holder}"
        super().__init__(Reason.STORE_BUSY, message, "end that process, or wait until it lets go")
        self.pid = pid


class StoreFullError(StoreError):
    """There is no room for what was to be written. What had been applied is unharmed; the rest is dropped."""

    def __init__(self, message: str) -> None:
        super().__init__(Reason.STORE_FULL, message, "make room, then repeat the batch")


class PendingWritesError(Exception):
    """Something that goes past the pending writes was asked for while there were some."""

    def __init__(self) -> None:
        super().__init__("writes are pending: apply or drop them first")


class Store(Protocol):
    """One open store. Keys and values are columns of an Arrow binary type; a null value deletes."""

    @property
    def mark(self) -> StoreMark | None:
        """The mark of what the store contains; None for a new one."""

    def get(self, keys: pa.Array) -> pa.Array:
        """The value of each key, null where there is none or the key is null; pending writes are seen."""

    def put(self, keys: pa.Array, values: pa.Array) -> None:
        """Write, pending. Of a key that stands several times the last one counts. No key is null."""

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """The entries with start <= key < end in order of the key; pending writes are seen.

        What is written while this continues may be seen or not.
        """

    def batches(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[pa.Array, pa.Array]]:
        """The same as `scan`, as columns of keys and of values, some thousand entries each."""

    def apply(self, mark: StoreMark) -> None:
        """Commit the pending writes together with the mark, or neither of them."""

    def drop(self) -> None:
        """Forget the pending writes."""

    def load(self, keys: pa.Array, values: pa.Array) -> None:
        """Write many entries at once, for restoring; refused while writes are pending."""

    def set_mark(self, mark: StoreMark) -> None:
        """Write the mark alone, after entries were loaded; refused while writes are pending."""

    def count(self) -> int:
        """The number of entries, roughly for RocksDB."""

    def size_bytes(self) -> int:
        """The bytes of the store on disk, or in memory."""

    def close(self) -> None:
        """Close the store; pending writes are dropped."""


class StoreKind(StrEnum):
    """The kind of store in which a table can be kept."""

    MEMORY = "memory"
    LMDB = "lmdb"
    ROCKSDB = "rocksdb"
