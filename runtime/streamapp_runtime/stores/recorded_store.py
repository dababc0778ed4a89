"""A store that can be read as it was: while a snapshot is open, the values that writes replace are kept.

It works in the same way over every store, and costs nothing while no snapshot is open. LMDB has no snapshots
without its lock, a store in memory has none, and one of RocksDB's keeps what was replaced in its files.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.stores.store import PendingWritesError, Store, StoreMark

MOST_REPLACED_BYTES: Final = 32 << 20
"""So many bytes of replaced entries the snapshots of one process keep together."""
CLOSED: Final = "its task has moved, or its process has ended"
REWRITTEN: Final = "the store of its task was restored"
TOO_OLD: Final = f"more than {MOST_REPLACED_BYTES >> 20} MiB of rows were written over since it began"

Entry = tuple[bytes, bytes]
Replaced = Mapping[bytes, bytes | None]


class SnapshotExpiredError(Exception):
    """A snapshot cannot be read any more: why."""


@dataclass(slots=True)
class ReplacedBytes:
    """The bytes of replaced entries that the snapshots of one process keep."""

    size: int = 0


@dataclass(slots=True, eq=False)
class StoreSnapshot:
    """The entries of a store at one moment: those of now, with what was replaced since laid over them."""

    scan: Callable[[bytes, bytes | None], Iterator[Entry]]  # of the store as it is
    memory: ReplacedBytes
    expiry_reason: str = ""  # why it cannot be read any more
    _replaced: dict[bytes, bytes | None] = field(default_factory=dict)  # None: there was no entry
    _keys: list[bytes] = field(default_factory=list)  # the same keys, in order once they are read
    _size: int = 0

    def entries(self, start: bytes, end: bytes | None) -> Iterator[Entry]:
        """The entries with start <= key < end in order of the key; SnapshotExpiredError."""
        if self.expiry_reason:
            raise SnapshotExpiredError(self.expiry_reason)
        unchanged = (entry for entry in self.scan(start, end) if entry[0] not in self._replaced)
        return merge(unchanged, self._replaced_entries(start, end))

    def lacks(self, key: bytes) -> bool:
        """True if a write of this key would be the first one since the snapshot was made."""
        return not self.expiry_reason and key not in self._replaced

    def note(self, replaced: Replaced) -> None:
        """Keep what a commit has replaced; the first value of a key is the one of the snapshot."""
        if self.expiry_reason:
            return
        for key, value in replaced.items():
            if key not in self._replaced:
                self._replaced[key] = value
                self._keys.append(key)
                size = len(key) + len(value or b"")
                self._size += size
                self.memory.size += size
        if self.memory.size > MOST_REPLACED_BYTES:
            self.end(TOO_OLD)

    def end(self, why: str) -> None:
        """Keep nothing any more."""
        self.expiry_reason = self.expiry_reason or why
        self.memory.size -= self._size
        self._replaced, self._keys, self._size = {}, [], 0

    def _replaced_entries(self, start: bytes, end: bytes | None) -> Iterator[Entry]:
        self._keys.sort()  # two ordered runs at most: linear
        until = None if end is None else bisect_left(self._keys, end)
        for key in islice(self._keys, bisect_left(self._keys, start), until):
            value = self._replaced[key]
            if value is not None:
                yield key, value


class RecordedStore:
    """A store, and the snapshots of it that are open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._snapshots: list[StoreSnapshot] = []
        self._replaced: dict[bytes, bytes | None] = {}  # by what is pending
        self._retired = False

    @property
    def mark(self) -> StoreMark | None:
        """The mark of what the store contains; None for a new one."""
        return self._store.mark

    def snapshot(self, memory: ReplacedBytes) -> StoreSnapshot:
        """The store as it is now, for as long as it is open; nothing is pending in it."""
        snapshot = StoreSnapshot(self._committed, memory)
        self._snapshots.append(snapshot)
        return snapshot

    def release(self, snapshot: StoreSnapshot) -> None:
        """Let go of a snapshot."""
        snapshot.end(CLOSED)
        if snapshot in self._snapshots:
            self._snapshots.remove(snapshot)
        if self._retired and not self._snapshots:
            self.close()

    def get(self, keys: pa.Array) -> pa.Array:
        """The value of each key, null where there is none or the key is null; pending writes are seen."""
        return self._store.get(keys)

    def put(self, keys: pa.Array, values: pa.Array) -> None:
        """Write, pending. Of a key that stands several times the last one counts. No key is null."""
        if self._snapshots:
            self._keep(keys)
        self._store.put(keys, values)

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Entry]:
        """The entries with start <= key < end in order of the key; pending writes are seen."""
        return self._store.scan(start, end)

    def batches(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[pa.Array, pa.Array]]:
        """The same as `scan`, as columns of keys and of values."""
        return self._store.batches(start, end)

    def apply(self, mark: StoreMark) -> None:
        """Commit the pending writes together with the mark, or neither of them."""
        replaced, self._replaced = self._replaced, {}
        try:
            self._store.apply(mark)
        except BaseException:
            self._end_snapshots(REWRITTEN)  # nobody knows what of it was written
            raise
        for snapshot in self._snapshots:
            snapshot.note(replaced)

    def drop(self) -> None:
        """Forget the pending writes."""
        self._replaced = {}
        self._store.drop()

    def load(self, keys: pa.Array, values: pa.Array) -> None:
        """Write many entries at once, for restoring; refused while writes are pending."""
        self._end_snapshots(REWRITTEN)
        self._store.load(keys, values)

    def set_mark(self, mark: StoreMark) -> None:
        """Write the mark alone, after entries were loaded; refused while writes are pending."""
        self._store.set_mark(mark)

    def count(self) -> int:
        """The number of entries, roughly for RocksDB."""
        return self._store.count()

    def size_bytes(self) -> int:
        """The bytes of the store on disk, or in memory."""
        return self._store.size_bytes()

    def copy_to(self, directory: Path) -> None:
        """Write what was applied to a directory that is not there yet; of stores on disk alone."""
        copyable: Any = self._store
        copyable.copy_to(directory)

    def close(self) -> None:
        """Close the store; pending writes are dropped, and snapshots are gone."""
        self._end_snapshots(CLOSED)
        self._retired = False
        self._store.close()

    def retire(self) -> None:
        """Close a store that is not written to any more once its snapshots are released."""
        self._retired = bool(self._snapshots)
        if not self._retired:
            self._store.close()

    def _committed(self, start: bytes, end: bytes | None) -> Iterator[Entry]:
        if self._replaced:
            raise PendingWritesError
        return self._store.scan(start, end)

    def _keep(self, keys: pa.Array) -> None:
        """Note what a write replaces, where a snapshot does not know it yet."""
        written: Iterable[bytes] = pc.unique(keys.drop_null()).to_pylist()
        unknown = [
            key
            for key in written
            if key not in self._replaced and any(snapshot.lacks(key) for snapshot in self._snapshots)
        ]
        values = self._store.get(pa.array(unknown, pa.binary())).to_pylist()
        self._replaced.update(zip(unknown, values, strict=True))

    def _end_snapshots(self, why: str) -> None:
        for snapshot in self._snapshots:
            snapshot.end(why)
        self._snapshots = []
