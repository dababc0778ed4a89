"""A store in the memory of its process: nothing is left of it when that ends."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain

import pyarrow as pa

from streamapp_runtime.stores.engines.entries import CHUNK, Entry, as_columns, last_writes
from streamapp_runtime.stores.engines.read_cache import ReadCache
from streamapp_runtime.stores.store import PendingWritesError, StoreLimits, StoreMark


class MemoryStore:
    """A dictionary. Pending writes are made at once, and what they wrote over is remembered."""

    def __init__(self, limits: StoreLimits) -> None:
        self._cache = ReadCache(limits.cached_bytes)
        self._entries: dict[bytes, bytes] = {}
        self._overwritten: dict[bytes, bytes | None] = {}
        self._mark: StoreMark | None = None
        self._order: list[bytes] = []  # sorted; may name keys that are gone, lacks those in _unordered
        self._unordered: set[bytes] = set()

    @property
    def mark(self) -> StoreMark | None:
        """The mark of what the store contains; None for a new one."""
        return self._mark

    def get(self, keys: pa.Array) -> pa.Array:
        """The value of each key, null where there is none or the key is null; pending writes are seen."""
        return self._cache.get(keys, lambda missing_keys: list(map(self._entries.get, missing_keys)))

    def put(self, keys: pa.Array, values: pa.Array) -> None:
        """Write, pending. Of a key that stands several times the last one counts. No key is null."""
        written = last_writes(keys, values)
        before = dict(zip(written, map(self._entries.get, written), strict=True))
        self._overwritten = before | self._overwritten
        self._write(written)
        self._cache.write(keys, values, written)

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """The entries with start <= key < end in order of the key; pending writes are seen."""
        return chain.from_iterable(self._chunks(start, end))

    def batches(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[pa.Array, pa.Array]]:
        """The same as `scan`, as columns of keys and of values."""
        return as_columns(self._chunks(start, end))

    def apply(self, mark: StoreMark) -> None:
        """Commit the pending writes together with the mark."""
        self._overwritten = {}
        self._mark = mark

    def drop(self) -> None:
        """Put back what the pending writes wrote over."""
        before, self._overwritten = self._overwritten, {}
        if before:
            self._write(before)
            self._cache.clear()

    def load(self, keys: pa.Array, values: pa.Array) -> None:
        """Write many entries at once, for restoring; refused while writes are pending."""
        self._refuse_pending()
        self._cache.clear()
        self._write(last_writes(keys, values))

    def set_mark(self, mark: StoreMark) -> None:
        """Write the mark alone, after entries were loaded; refused while writes are pending."""
        self._refuse_pending()
        self._mark = mark

    def count(self) -> int:
        """The number of entries."""
        return len(self._entries)

    def size_bytes(self) -> int:
        """The bytes of its keys and values."""
        return sum(map(len, self._entries)) + sum(map(len, self._entries.values()))

    def close(self) -> None:
        """Forget everything."""
        for collection in (self._entries, self._overwritten, self._order, self._unordered):
            collection.clear()
        self._cache.clear()

    def _refuse_pending(self) -> None:
        if self._overwritten:
            raise PendingWritesError

    def _write(self, written: dict[bytes, bytes | None]) -> None:
        self._unordered |= written.keys() - self._entries.keys()
        put = {key: value for key, value in written.items() if value is not None}
        self._entries |= put
        if len(put) < len(written):
            for key in written.keys() - put.keys():
                self._entries.pop(key, None)

    def _ordered(self) -> list[bytes]:
        if self._unordered:
            # A key that went and came back is in both; two sorted runs are merged in linear time.
            order = [key for key in self._order if key in self._entries and key not in self._unordered]
            order += sorted(key for key in self._unordered if key in self._entries)
            order.sort()
            self._order, self._unordered = order, set()
        return self._order

    def _chunks(self, start: bytes, end: bytes | None) -> Iterator[list[Entry]]:
        order, entries = self._ordered(), self._entries
        until = len(order) if end is None else bisect_left(order, end)
        for first in range(bisect_left(order, start), until, CHUNK):
            keys = order[first : min(first + CHUNK, until)]
            present = [(key, entries[key]) for key in keys if key in entries]
            if present:
                yield present
