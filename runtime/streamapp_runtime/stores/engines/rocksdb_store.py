"""A store in RocksDB. Pending writes lie over it in memory and become one write batch, with the mark."""

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import cast

import pyarrow as pa
from rocksdict import (
    AccessType,
    BlockBasedOptions,
    Cache,
    Checkpoint,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    WriteBatch,
    WriteOptions,
)

from streamapp_runtime.stores import store_mark
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
from streamapp_runtime.stores.store import PendingWritesError, StoreLimits, StoreMark

_MARK = b"mark"
_Key = str | int | float | bytes | bool


class RocksDbStore:
    """Entries and the mark are two column families, so one write batch holds both."""

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
        self._pending: dict[bytes, bytes | None] = {}
        self._pending_keys: list[bytes] | None = []
        self._cache = ReadCache(limits.cached_bytes)
        self._write_options = WriteOptions()
        self._write_options.sync = limits.synced
        with self._guarded():
            options = _options(limits)
            access = AccessType.read_only() if readonly else AccessType.read_write()
            families = {"mark": _options(limits)}
            self._entries = Rdict(str(directory), options, families, access_type=access)
            self._marks = self._entries.get_column_family("mark")
            self._mark_family = self._entries.get_column_family_handle("mark")
            mark_bytes = self._marks.get(_MARK)
        self._mark = None if mark_bytes is None else store_mark.mark_from_bytes(mark_bytes)

    @property
    def mark(self) -> StoreMark | None:
        """The mark of what the store contains; None for a new one."""
        return self._mark

    def get(self, keys: pa.Array) -> pa.Array:
        """The value of each key, null where there is none or the key is null; pending writes are seen."""
        return self._cache.get(keys, self._read)

    def put(self, keys: pa.Array, values: pa.Array) -> None:
        """Write, pending. Of a key that stands several times the last one counts. No key is null."""
        written = last_writes(keys, values)
        self._pending |= written
        self._pending_keys = None
        self._cache.write(keys, values, written)

    def scan(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """The entries with start <= key < end in order of the key; pending writes are seen."""
        return chain.from_iterable(self._entry_chunks(start, end))

    def batches(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[pa.Array, pa.Array]]:
        """The same as `scan`, as columns of keys and of values."""
        return as_columns(self._entry_chunks(start, end))

    def apply(self, mark: StoreMark) -> None:
        """Write the pending writes together with the mark, or neither of them."""
        try:
            self._write(self._pending, mark)
        except BaseException:
            self.drop()
            raise
        self._pending, self._pending_keys = {}, []

    def drop(self) -> None:
        """Forget the pending writes."""
        if self._pending:
            self._pending, self._pending_keys = {}, []
            self._cache.clear()

    def load(self, keys: pa.Array, values: pa.Array) -> None:
        """Write many entries at once, for restoring; refused while writes are pending."""
        self._refuse_pending()
        self._cache.clear()
        self._write(last_writes(keys, values), None)

    def set_mark(self, mark: StoreMark) -> None:
        """Write the mark alone, after entries were loaded; refused while writes are pending."""
        self._refuse_pending()
        self._write({}, mark)

    def count(self) -> int:
        """The number of entries, roughly."""
        return self._entries.property_int_value("rocksdb.estimate-num-keys") or 0

    def size_bytes(self) -> int:
        """The bytes of the store on disk."""
        return sum(file.stat().st_blocks for file in self._directory.iterdir()) * 512

    def copy_to(self, directory: Path) -> None:
        """Write what was applied to a directory that is not there yet; refused while writes are pending.

        Files that do not change any more are linked, not copied.
        """
        self._refuse_pending()
        with self._guarded(writing=True):
            Checkpoint(self._entries).create_checkpoint(str(directory))

    def close(self) -> None:
        """Sync and close the store; pending writes are dropped."""
        closing, self._closing = self._closing, None
        if closing is None:
            return
        with closing, self._guarded(writing=True):
            self.drop()
            try:
                # In this order, so that no moment leaves a mark in a file while its entries are in none.
                if not self._readonly:
                    self._entries.flush()
                    self._marks.flush()
            finally:
                # Open as long as anything of it is held; its own close would keep it open when a flush fails.
                del self._mark_family, self._marks, self._entries

    @contextmanager
    def _guarded(self, *, writing: bool = False) -> Iterator[None]:
        """Errors of RocksDB as what they mean for the store."""
        try:
            yield
        except Exception as error:  # rocksdict has no class of its own for them
            raise translate_store_error(error, self._directory, writing=writing) from error

    def _refuse_pending(self) -> None:
        if self._pending:
            raise PendingWritesError

    def _read(self, keys: list[bytes]) -> FoundValues:
        pending = self._pending
        if not pending:
            return self._read_applied(keys)
        applied = iter(self._read_applied([key for key in keys if key not in pending]))
        return [pending[key] if key in pending else next(applied) for key in keys]

    def _read_applied(self, keys: list[bytes]) -> FoundValues:
        with self._guarded():
            return cast("FoundValues", self._entries.get(list[_Key](keys)))

    def _write(self, written: dict[bytes, bytes | None], mark: StoreMark | None) -> None:
        batch = WriteBatch(raw_mode=True)
        put, delete = batch.put, batch.delete
        for key, value in written.items():
            if value is None:
                delete(key)
            else:
                put(key, value)
        if mark is not None:
            put(_MARK, store_mark.mark_to_bytes(mark), self._mark_family)
        with self._guarded(writing=True):
            self._entries.write(batch, self._write_options)
        if mark is not None:
            self._mark = mark

    def _entry_chunks(self, start: bytes, end: bytes | None) -> Iterator[list[Entry]]:
        return overlaid(in_chunks(self._read_chunk, start, end), start, end, self._pending_entries)

    def _read_chunk(self, start: bytes, size: int) -> list[Entry]:
        """So many applied entries from a key on."""
        with self._guarded():
            entries = cast("Iterator[Entry]", self._entries.items(from_key=start))
            return list(islice(entries, size))

    def _pending_entries(self, start: bytes, end: bytes | None) -> dict[bytes, bytes | None]:
        if self._pending_keys is None:
            self._pending_keys = sorted(self._pending)
        keys = self._pending_keys
        until = len(keys) if end is None else bisect_left(keys, end)
        return {key: self._pending[key] for key in keys[bisect_left(keys, start) : until]}


@lru_cache
def _block_cache(size: int) -> Cache:
    """One for all stores of this process."""
    return Cache(size)


def _options(limits: StoreLimits) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    blocks = BlockBasedOptions()
    blocks.set_block_cache(_block_cache(limits.block_cache_bytes))
    blocks.set_cache_index_and_filter_blocks(True)
    blocks.set_bloom_filter(10, block_based=False)
    options.set_block_based_table_factory(blocks)
    options.set_write_buffer_size(limits.write_buffer_bytes)
    options.set_max_write_buffer_number(2)
    options.set_compression_type(DBCompressionType.lz4())
    # The mark's family is tiny and never full; without this its share would keep old logs for ever.
    options.set_max_total_wal_size(4 * limits.write_buffer_bytes)
    options.set_atomic_flush(True)  # no mark in a file while its entries are in none
    # After a loss of power everything up to the first torn record is there; the mark says how far that is.
    options.set_wal_recovery_mode(DBRecoveryMode.point_in_time())
    options.set_max_open_files(256)
    options.set_keep_log_file_num(2)
    return options
