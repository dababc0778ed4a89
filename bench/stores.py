"""Stores and rows: entries that a batch reads and writes, and rows encoded and decoded, per CPU second."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pyarrow as pa

from bench.row import Aim, Row
from streamapp_runtime.rows.row_decoder import decode
from streamapp_runtime.rows.row_encoder import encode
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreLimits, StoreMark
from streamapp_runtime.stores.store_opening import open_store

ENTRIES = 1_000_000
BATCH = 100_000
TABLES = (100_000, 1_000_000)
IDENTITY = StoreIdentity("run", "Partition 0", "users", "hash")


def rows() -> Iterator[Row]:
    """Rows, then each store with a table that fits its read cache and with one that does not."""
    yield from _rows()
    for kind in StoreKind:
        for entries in TABLES:
            with TemporaryDirectory() as root:
                limits = StoreLimits(cached_bytes=64 << 20)
                store = open_store(kind, Path(root) / "users", IDENTITY, owner="bench", limits=limits)
                yield from _store(f"{kind}, {entries:,} entries", store, entries)
                store.close()


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


def _store(name: str, store: Store, entries: int) -> Iterator[Row]:
    chance = np.random.default_rng(7)
    names = pa.array([b"user-%07d" % n for n in range(entries)], pa.binary())
    values = pa.array([b"the value of user %022d" % n for n in range(entries)], pa.binary())
    batches = [pa.array(chance.integers(0, entries, BATCH)) for _ in range(ENTRIES // BATCH)]
    asked = [names.take(batch) for batch in batches]
    written = [values.take(batch) for batch in batches]

    def load() -> None:
        for start in range(0, entries, BATCH):
            store.load(names[start : start + BATCH], values[start : start + BATCH])

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


def _count(store: Store) -> int:
    return sum(len(some) for some, _ in store.batches())


def _rate(measured: Callable[[], object], count: int = ENTRIES) -> float:
    start = process_time()
    measured()
    return count / (process_time() - start) / 1e6
