"""Stores and rows: entries that a batch reads and writes, and rows encoded and decoded, per CPU second."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.row import Aim, Row
from streamapp_runtime.rows.row_decoder import decode
from streamapp_runtime.rows.row_encoder import encode
from streamapp_runtime.stores.engines.lmdb_store import LmdbStore
from streamapp_runtime.stores.engines.rocksdb_store import RocksDbStore
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreLimits, StoreMark
from streamapp_runtime.stores.store_opening import open_store

ENTRIES = 1_000_000
BATCH = 100_000
TABLES = (1_000, 100_000, 1_000_000, 50_000_000)
"""Fifty million entries take minutes and gigabytes, so that only the stores on disk hold them."""
IDENTITY = StoreIdentity("run", "Partition 0", "users", "hash")


def rows() -> Iterator[Row]:
    """Rows, then each store with a table that fits its read cache and with one that does not."""
    yield from _rows()
    for kind in StoreKind:
        for entries in TABLES if kind is not StoreKind.MEMORY else TABLES[:-1]:
            with TemporaryDirectory() as root:
                yield from _store(f"{kind}, {entries:,} entries", kind, Path(root), entries)


def _rows() -> Iterator[Row]:
    number = np.arange(ENTRIES)
    batch = pa.record_batch(
        {
            "user": pa.array([f"user-{n % 100_000:07d}" for n in range(ENTRIES)]),
            "country": pa.array([f"country-{n % 200}" for n in range(ENTRIES)]),
            "tier": pa.array(number % 7, pa.int32()),
            "total": pa.array(number * 0.5),
            "at": pa.array(number, pa.timestamp("us", "UTC")),
        }
    )
    encoded = encode(batch, batch.schema)
    yield Row("rows of five columns encoded", _rate(lambda: encode(batch, batch.schema)), "M/s", Aim(least=2))
    yield Row(
        "rows of five columns decoded", _rate(lambda: decode(encoded, batch.schema)), "M/s", Aim(least=2)
    )
    tags = pa.record_batch({"tags": pa.array([[f"t{n % 9}"] * (n % 4) for n in range(ENTRIES)])})
    listed = encode(tags, tags.schema)
    yield Row("rows of a list of texts encoded", _rate(lambda: encode(tags, tags.schema)), "M/s")
    yield Row("rows of a list of texts decoded", _rate(lambda: decode(listed, tags.schema)), "M/s")


def _store(name: str, kind: StoreKind, root: Path, entries: int) -> Iterator[Row]:
    chance = np.random.default_rng(7)
    batches = [chance.integers(0, entries, BATCH) for _ in range(ENTRIES // BATCH)]
    asked = [_texts("user-", batch) for batch in batches]
    written = [_texts("the value of user 000000000000000", batch) for batch in batches]
    loaded = [np.arange(start, min(start + BATCH, entries)) for start in range(0, entries, BATCH)]
    store = _opened(kind, root)

    def load() -> None:
        for numbers in loaded:
            store.load(_texts("user-", numbers), _texts("the value of user 000000000000000", numbers))

    def put() -> None:
        for number, (some, theirs) in enumerate(zip(asked, written, strict=True)):
            store.put(some, theirs)
            store.apply(StoreMark("run", "Partition 0", "users", "hash", f"1.{number}.0", number))

    def get() -> None:
        for some in asked:
            store.get(some)

    yield Row(f"{name}: loaded", _rate(load, entries), "M/s")
    yield Row(f"{name}: put and applied", _rate(put), "M/s")
    yield Row(f"{name}: get, first time", _rate(get), "M/s")
    yield Row(f"{name}: get, again", _rate(get), "M/s")
    yield Row(f"{name}: scanned as columns", _rate(lambda: _count(store), entries), "M/s")
    if isinstance(store, RocksDbStore | LmdbStore):
        copyable = store
        yield Row(f"{name}: on disk", store.size_bytes() / entries, "bytes/entry")
        yield Row(f"{name}: copied", _seconds(lambda: copyable.copy_to(root / "copy")) * 1000, "ms")
        store.close()
        yield Row(f"{name}: opened", _seconds(lambda: _opened(kind, root).close()) * 1000, "ms")
    else:
        store.close()


def _opened(kind: StoreKind, root: Path) -> Store:
    return open_store(
        kind, root / "users", IDENTITY, owner="bench", limits=StoreLimits(cached_bytes=64 << 20)
    )


def _texts(start: str, numbers: "np.ndarray[Any, np.dtype[np.int64]]") -> pa.Array:
    """A text for each of these, made without a Python object for each."""
    digits = pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), width=8, padding="0")
    return pc.cast(pc.binary_join_element_wise(start, digits, ""), pa.binary())


def _count(store: Store) -> int:
    return sum(len(some) for some, _ in store.batches())


def _rate(measured: Callable[[], object], count: int = ENTRIES) -> float:
    start = process_time()
    measured()
    return count / (process_time() - start) / 1e6


def _seconds(measured: Callable[[], object]) -> float:
    """The seconds by the clock: these calls wait for the disk."""
    start = perf_counter()
    measured()
    return perf_counter() - start
