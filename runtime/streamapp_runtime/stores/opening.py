"""Opens a table's store: locked, of the expected identity, and trusted, or refused with the reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from streamapp_runtime.stores import layout, marks
from streamapp_runtime.stores.holder import Hold, take, this_boot
from streamapp_runtime.stores.lmdb_store import LmdbStore
from streamapp_runtime.stores.memory_store import MemoryStore
from streamapp_runtime.stores.rocksdb_store import RocksDbStore
from streamapp_runtime.stores.store import Identity, Limits, Store

WAIT_SECONDS = 10.0


class StoreKind(StrEnum):
    """What a table can be kept in."""

    MEMORY = "memory"
    LMDB = "lmdb"
    ROCKSDB = "rocksdb"


def open_store(
    kind: StoreKind,
    directory: Path,
    expected: Identity,
    *,
    owner: str,
    limits: Limits | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> Store:
    """Open a store, or make it where there is none. `owner` is the application.

    StoreBusyError while another process has it, StoreDamagedError when it has to be rebuilt.
    """
    limits = limits or Limits()
    if kind is StoreKind.MEMORY:
        return MemoryStore(limits)
    hold = take(directory, owner, wait_seconds)
    try:
        store = _opened(kind, directory, limits, hold)
    except BaseException:
        hold.release()
        raise
    try:
        marks.check(store.mark, next(store.scan(), None) is None, expected)
    except BaseException:
        store.close()
        raise
    return store


def rebuild(directory: Path, *, owner: str, wait_seconds: float = WAIT_SECONDS) -> None:
    """Empty a store; StoreBusyError while another process has it."""
    hold = take(directory, owner, wait_seconds)
    try:
        layout.emptied(directory)
    finally:
        hold.release()


def _opened(kind: StoreKind, directory: Path, limits: Limits, hold: Hold) -> Store:
    layout.clear_away(directory)
    data = layout.prepared(directory, kind)
    if kind is StoreKind.ROCKSDB:
        return RocksDbStore(data, limits, _closing(directory, hold))
    if not limits.synced:
        layout.begin_unsynced(directory, this_boot())
    return LmdbStore(data, limits, _closing(directory, hold))


@contextmanager
def _closing(directory: Path, hold: Hold) -> Iterator[None]:
    """Around the closing of a store."""
    try:
        yield
        layout.end_unsynced(directory)
    finally:
        hold.release()
