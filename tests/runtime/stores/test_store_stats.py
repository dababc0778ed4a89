"""A store is looked at from another process while its holder writes."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from streamapp_runtime.stores.directories.state_directory import state_directory
from streamapp_runtime.stores.directories.store_stats import app_store_stats, store_stats
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreMark
from streamapp_runtime.stores.store_opening import open_store

ON_DISK = [StoreKind.LMDB, StoreKind.ROCKSDB]
ME = StoreIdentity("run", "Partition 0", "users", "schema")


def mark(changelog: int) -> StoreMark:
    return StoreMark(ME.run_id, ME.task, ME.table, ME.schema, "1.1.1", changelog)


def put(store: Store, numbers: range) -> None:
    keys = pa.array([f"key {number}".encode() for number in numbers], pa.binary())
    store.put(keys, keys)


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("kind", ON_DISK)
def test_what_was_applied_is_seen_and_what_is_pending_is_not(kind: StoreKind, tmp_path: Path) -> None:
    directory = state_directory(tmp_path, "shop", ME.task, ME.table)
    store = open_store(kind, directory, ME, owner="shop")
    put(store, range(100))
    store.apply(mark(100))
    put(store, range(100, 200))
    look = (
        "import sys; from pathlib import Path; from streamapp_runtime.stores.directories.store_stats import "
        "app_store_stats;"
        "(task, table, g), = app_store_stats(Path(sys.argv[1]), 'shop');"
        "print(task, table, g.kind, g.entries, g.mark.changelog, sep=',')"
    )
    seen = subprocess.run([sys.executable, "-c", look, tmp_path], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == f"{ME.task},{ME.table},{kind},100,100"
    store.apply(mark(200))
    store.close()
    found = store_stats(directory)
    assert found is not None
    assert (found.entries, found.mark) == (200, mark(200))
    assert found.size > 0


@pytest.mark.parametrize("kind", ON_DISK)
def test_a_glance_leaves_a_store_as_it_was(kind: StoreKind, tmp_path: Path) -> None:
    store = open_store(kind, tmp_path, ME, owner="shop")
    put(store, range(10))
    store.apply(mark(10))
    store.close()
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    assert store_stats(tmp_path) is not None
    assert {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()} == before


def test_where_there_is_no_store_there_is_nothing_to_see(tmp_path: Path) -> None:
    assert store_stats(tmp_path) is None
    assert list(app_store_stats(tmp_path, "shop")) == []
