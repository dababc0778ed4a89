"""Opens a table's store: locked, of the expected identity, and trusted, or refused with the reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import assert_never

from streamapp_runtime.stores import store_mark
from streamapp_runtime.stores.directories import store_files
from streamapp_runtime.stores.directories.store_lock import StoreLock, boot_id, lock_store
from streamapp_runtime.stores.engines.lmdb_store import LmdbStore
from streamapp_runtime.stores.engines.memory_store import MemoryStore
from streamapp_runtime.stores.engines.rocksdb_store import RocksDbStore
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreLimits

LOCK_WAIT_SECONDS = 10.0


def open_store(
    kind: StoreKind,
    directory: Path,
    expected: StoreIdentity,
    *,
    owner: str,
    limits: StoreLimits | None = None,
    wait_seconds: float = LOCK_WAIT_SECONDS,
) -> Store:
    """Open a store, or make it where there is none. `owner` is the application.

    StoreBusyError while another process has it, StoreDamagedError when it has to be rebuilt.
    """
    limits = limits or StoreLimits()
    if kind is StoreKind.MEMORY:
        return MemoryStore(limits)
    hold = lock_store(directory, owner, wait_seconds)
    try:
        store = _open_engine(kind, directory, limits, hold)
    except BaseException:
        hold.release()
        raise
    try:
        store_mark.check_mark(store.mark, next(store.scan(), None) is None, expected)
    except BaseException:
        store.close()
        raise
    return store


def discard_store(directory: Path, *, owner: str, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
    """Empty a store; StoreBusyError while another process has it."""
    hold = lock_store(directory, owner, wait_seconds)
    try:
        store_files.remove_data(directory)
    finally:
        hold.release()


def _open_engine(kind: StoreKind, directory: Path, limits: StoreLimits, hold: StoreLock) -> Store:
    store_files.delete_removed_data(directory)
    data = store_files.prepare_data(directory, kind)
    match kind:
        case StoreKind.ROCKSDB:
            return RocksDbStore(data, limits, _closing(directory, hold))
        case StoreKind.LMDB:
            if not limits.synced:
                store_files.begin_unsynced(directory, boot_id())
            return LmdbStore(data, limits, _closing(directory, hold))
        case StoreKind.MEMORY:
            raise TypeError("a store in memory has no files")
        case _:
            assert_never(kind)


@contextmanager
def _closing(directory: Path, hold: StoreLock) -> Iterator[None]:
    """Around the closing of a store."""
    try:
        yield
        store_files.end_unsynced(directory)
    finally:
        hold.release()
