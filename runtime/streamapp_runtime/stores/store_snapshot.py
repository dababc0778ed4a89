"""Copies of a store that never change, which any process may open and read, whoever has the store itself."""

import os
import shutil
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from streamapp_runtime.stores.engines.lmdb_store import LmdbStore
from streamapp_runtime.stores.engines.rocksdb_store import RocksDbStore
from streamapp_runtime.stores.store import Store, StoreKind, StoreLimits


class CopyableStore(Protocol):
    """A store that can be copied while it is open."""

    def copy_to(self, directory: Path) -> None:
        """Write what was applied to a directory that is not there yet."""


@dataclass(frozen=True, slots=True)
class LinkedCopy:
    """A copy that is copied once more: as its files never change, they are linked."""

    folder: Path

    def copy_to(self, directory: Path) -> None:
        """Make a directory of links."""
        # Who opens a RocksDB to read writes a log of its own beside the data.
        left_out = shutil.ignore_patterns("LOG*", "LOCK")
        shutil.copytree(self.folder, directory, copy_function=os.link, ignore=left_out)


def open_snapshot(kind: StoreKind, directory: Path, limits: StoreLimits | None = None) -> Store:
    """Open a copy; nothing can be written to it. StoreDamagedError where it cannot be read."""
    limits = limits or StoreLimits()
    if kind is StoreKind.ROCKSDB:
        return RocksDbStore(directory, limits, nullcontext(), readonly=True)
    if kind is StoreKind.LMDB:
        return LmdbStore(directory, limits, nullcontext(), readonly=True)
    raise ValueError(f"a {kind} store is not copied")
