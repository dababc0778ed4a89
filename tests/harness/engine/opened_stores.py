"""Stores for tests, of every kind."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreLimits, StoreMark
from streamapp_runtime.stores.store_opening import open_store

KINDS = tuple(StoreKind)
ON_DISK = (StoreKind.LMDB, StoreKind.ROCKSDB)
IDENTITY = StoreIdentity("run-1", "Partition 0", "users", "abc")
SMALL = StoreLimits(
    cached_bytes=2_000, block_cache_bytes=1 << 20, write_buffer_bytes=1 << 16, map_bytes=1 << 20
)
OWNER = "shop.page-views"

Opener = Callable[[], Store]


def opened(kind: StoreKind, directory: Path, limits: StoreLimits = SMALL, wait_seconds: float = 0.0) -> Store:
    return open_store(kind, directory, IDENTITY, owner=OWNER, limits=limits, wait_seconds=wait_seconds)


def mark(changelog: int, **changed: str) -> StoreMark:
    plain = StoreMark("run-1", "Partition 0", "users", "abc", attempt=f"1.{changelog}.0", changelog=changelog)
    return replace(plain, **changed)


def binary(*values: bytes | None) -> pa.Array:
    return pa.array(values, pa.binary())


def put(store: Store, written: Mapping[bytes, bytes | None]) -> None:
    store.put(binary(*written), binary(*written.values()))


def held(store: Store) -> dict[bytes, bytes]:
    return dict(store.scan())
