"""Copies of a store that never change, which any process may open and read, whoever has the store itself."""

from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

from streamapp_runtime.stores.lmdb_store import LmdbStore
from streamapp_runtime.stores.opening import StoreKind
from streamapp_runtime.stores.rocksdb_store import RocksDbStore
from streamapp_runtime.stores.store import Limits, Store


class Copied(Protocol):
    """A store that can be copied while it is open."""

    def copy_to(self, directory: Path) -> None:
        """Write what was applied to a directory that is not there yet."""


def open_snapshot(kind: StoreKind, directory: Path, limits: Limits | None = None) -> Store:
    """Open a copy; nothing can be written to it. StoreDamagedError where it cannot be read."""
    limits = limits or Limits()
    if kind is StoreKind.ROCKSDB:
        return RocksDbStore(directory, limits, nullcontext(), readonly=True)
    if kind is StoreKind.LMDB:
        return LmdbStore(directory, limits, nullcontext(), readonly=True)
    raise ValueError(f"a {kind} store is not copied")
