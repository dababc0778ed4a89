"""A store in an LMDB environment of its own. Pending writes are an open write transaction.

LMDB's own locking is left out, since whoever opens a store holds a lock on its directory. So the transaction
is bound to no thread; and a reader that stays open while something is committed would see pages change, which
is why a scan takes up its transaction again for every chunk.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain, islice
from pathlib import Path

import lmdb
import pyarrow as pa

from streamapp_runtime.stores import store_mark
from streamapp_runtime.stores.engines import long_keys
from streamapp_runtime.stores.engines.entries import (
    Entry,
    FoundValues,
    as_columns,
    in_chunks,
    last_writes,
    overlaid,
)
from streamapp_runtime.stores.engines.library_errors import translate_store_error
from streamapp_runtime.stores.engines.read_cache import ReadCache
from streamapp_runtime.stores.store import (
    PendingWritesError,
    StoreDamagedError,
    StoreFullError,
    StoreLimits,
    StoreMark,
)

_MARK = b"mark"


class LmdbStore:
    """Entries, long keys and the mark are three databases of one environment, so one commit holds all."""

    def __init__(
        self,
        directory: Path,
        limits: StoreLimits,
        closing: AbstractContextManager[None],
        *,
        readonly: bool = False,
    ) -> None:
        self._readonly = readonly
        self._directory = directory
        self._closing: AbstractContextManager[None] | None = closing
        self._file = directory / "data.mdb"
        self._pending: lmdb.Transaction[bytes] | None = None
        self._cache = ReadCache(limits.cached_bytes)
        self._map_is_full = False
        with self._guarded():
            self._env = (
                _COPIES.open(self._file, limits)
                if readonly
                else _open_environment(self._file, limits, readonly)
            )
            self._entries, self._buckets, self._marks = map(self._env.open_db, (b"entries", b"long", b"mark"))
            with self._env.begin(db=self._marks) as transaction:
                mark_bytes = transaction.get(_MARK)
        self._mark = None if mark_bytes is None else store_mark.mark_from_bytes(mark_bytes)

    @property
    def mark(self) -> StoreMark | None:
        """The mark of what the store contains; None for a new one."""
        return self._mark

    def get(self, keys: pa.Array) -> pa.Array:
        """The value of each key, null where there is none or the key is null; pending writes are seen."""
        with self._guarded():
            return self._cache.get(keys, self._read)

    def put(self, keys: pa.Array, values: pa.Array) -> None:
        """Write, pending. Of a key that stands several times the last one counts. No key is null."""
        written = last_writes(keys, values)
        with self._guarded(writing=True):
            self._write(written)
        self._cache.write(keys, values, written)

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """The entries with start <= key < end in order of the key; pending writes are seen."""
        return chain.from_iterable(self._entry_chunks(start, end))

    def batches(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[pa.Array, pa.Array]]:
        """The same as `scan`, as columns of keys and of values."""
        return as_columns(self._entry_chunks(start, end))

    def apply(self, mark: StoreMark) -> None:
        """Commit the pending writes together with the mark, or neither of them."""
        with self._guarded(writing=True):
            self._write_transaction().put(_MARK, store_mark.mark_to_bytes(mark), db=self._marks)
            self._commit()
        self._mark = mark

    def drop(self) -> None:
        """Forget the pending writes."""
        if self._pending is not None:
            self._pending.abort()
            self._pending = None
            self._cache.clear()

    def load(self, keys: pa.Array, values: pa.Array) -> None:
        """Write many entries at once, for restoring; refused while writes are pending."""
        self._refuse_pending()
        self._cache.clear()
        with self._guarded(writing=True):
            self._write(last_writes(keys, values))
            self._commit()

    def set_mark(self, mark: StoreMark) -> None:
        """Write the mark alone, after entries were loaded; refused while writes are pending."""
        self._refuse_pending()
        self.apply(mark)

    def count(self) -> int:
        """The number of entries."""
        with self._guarded(), self._reading() as transaction:
            entries = transaction.stat(self._entries)["entries"]
            return entries + long_keys.count(transaction.cursor(self._buckets))

    def size_bytes(self) -> int:
        """The bytes of the store on disk."""
        return self._file.stat().st_blocks * 512

    def copy_to(self, directory: Path) -> None:
        """Write what was applied to a directory that is not there yet; refused while writes are pending."""
        self._refuse_pending()
        directory.mkdir()
        with self._guarded(writing=True):
            self._env.copy(str(directory), compact=True)

    def close(self) -> None:
        """Sync and close the store; pending writes are dropped."""
        closing, self._closing = self._closing, None
        if closing is None:
            return
        with closing, self._guarded(writing=True):
            self.drop()
            try:
                if not self._readonly:
                    self._env.sync(True)
            finally:
                if self._readonly:
                    _COPIES.close(self._file)
                else:
                    self._env.close()

    @contextmanager
    def _guarded(self, *, writing: bool = False) -> Iterator[None]:
        """Errors of LMDB as what they mean for the store; the pending writes are lost to them."""
        try:
            yield
        except lmdb.Error as error:
            self.drop()
            if isinstance(error, lmdb.MapFullError | lmdb.TxnFullError):
                self._map_is_full = True
                raise StoreFullError(f"no room to write to {self._directory}: {error}") from error
            raise translate_store_error(error, self._directory, writing=writing) from error

    def _refuse_pending(self) -> None:
        if self._pending is not None:
            raise PendingWritesError

    def _write_transaction(self) -> "lmdb.Transaction[bytes]":
        if self._pending is None:
            size = self._env.info()["map_size"]
            if self._map_is_full or 2 * _used_bytes(self._env) > size:
                self._env.set_mapsize(8 * size if self._map_is_full else 2 * size)
                self._map_is_full = False
            self._pending = self._env.begin(write=True)
        return self._pending

    def _commit(self) -> None:
        self._write_transaction().commit()
        self._pending = None
        # Pages that were taken and given back at the very end are counted, but were never written.
        if self._file.stat().st_size < _used_bytes(self._env):
            os.truncate(self._file, _used_bytes(self._env))

    @contextmanager
    def _reading(self) -> Iterator["lmdb.Transaction[bytes]"]:
        if self._pending is not None:
            yield self._pending
        else:
            with self._env.begin() as transaction:
                yield transaction

    def _read(self, keys: list[bytes]) -> FoundValues:
        with self._reading() as transaction:
            lengths = set(map(len, keys))
            get = transaction.cursor(self._entries).get
            if 0 not in lengths and max(lengths, default=0) <= long_keys.LONGEST:
                return list(map(get, keys))
            buckets = transaction.cursor(self._buckets)
            return [long_keys.get(buckets, key) if long_keys.is_long(key) else get(key) for key in keys]

    def _write(self, written: dict[bytes, bytes | None]) -> None:
        transaction = self._write_transaction()
        keys = sorted(written)
        long = {key: written[key] for key in keys if long_keys.is_long(key)}
        if long:
            long_keys.put(transaction.cursor(self._buckets), long)
            keys = [key for key in keys if key not in long]
        values = [written[key] for key in keys]
        if None in values:
            for key, value in zip(keys, values, strict=True):
                if value is None:
                    transaction.delete(key, db=self._entries)
        puts = ((key, value) for key, value in zip(keys, values, strict=True) if value is not None)
        transaction.cursor(self._entries).putmulti(puts)

    def _entry_chunks(self, start: bytes, end: bytes | None) -> Iterator[list[Entry]]:
        return overlaid(in_chunks(self._read_chunk, start, end), start, end, self._long_entries)

    def _read_chunk(self, start: bytes, size: int) -> list[Entry]:
        """So many entries from a key on, long keys left out."""
        with self._guarded(), self._reading() as transaction:
            cursor = transaction.cursor(self._entries)
            # LMDB has no empty key to go to.
            if not (cursor.set_range(start) if start else cursor.first()):
                return []
            return list(islice(cursor.iternext(), size))

    def _long_entries(self, start: bytes, end: bytes | None) -> dict[bytes, bytes | None]:
        with self._guarded(), self._reading() as transaction:
            if not transaction.stat(self._buckets)["entries"]:
                return {}
            return long_keys.within(transaction.cursor(self._buckets), start, end)


def _open_environment(file: Path, limits: StoreLimits, readonly: bool) -> lmdb.Environment:
    existing_size = file.stat().st_size if file.exists() else 0
    env = lmdb.open(
        str(file.parent),
        map_size=max(limits.map_bytes, 2 * existing_size),
        max_dbs=3,
        lock=False,
        sync=limits.synced,
        readahead=False,
        readonly=readonly,
        create=not readonly,
    )
    if existing_size and file.stat().st_size < _used_bytes(env):
        env.close()
        # Reading beyond the end of a mapped file would end the process.
        raise StoreDamagedError(f"{file} has been cut off")
    return env


class _OpenCopies:
    """Copies that are open, each once: LMDB opens none twice in a process, which may have several lanes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._environments: dict[Path, lmdb.Environment] = {}
        self._users: Counter[Path] = Counter()

    def open(self, file: Path, limits: StoreLimits) -> lmdb.Environment:
        """The environment of a copy, which does not change, for one user more."""
        with self._lock:
            if file not in self._environments:
                self._environments[file] = _open_environment(file, limits, readonly=True)
            self._users[file] += 1
            return self._environments[file]

    def close(self, file: Path) -> None:
        """Close it behind its last user."""
        with self._lock:
            self._users[file] -= 1
            if not self._users[file]:
                del self._users[file]
                self._environments.pop(file).close()


_COPIES = _OpenCopies()


def _used_bytes(env: lmdb.Environment) -> int:
    return (env.info()["last_pgno"] + 1) * env.stat()["psize"]
