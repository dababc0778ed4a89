"""A copy of a store stays as it was, whatever becomes of the store."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamapp_runtime.stores.store import StoreIdentity, StoreKind, StoreMark
from streamapp_runtime.stores.store_opening import open_store
from streamapp_runtime.stores.store_snapshot import open_snapshot

KINDS = [StoreKind.LMDB, StoreKind.ROCKSDB]
LONG = b"x" * 600
LOOK = """
import sys
from pathlib import Path
from streamapp_runtime.stores.store_opening import StoreKind
from streamapp_runtime.stores.live_copy import open_live_copy
with open_live_copy(StoreKind(sys.argv[1]), Path(sys.argv[2])) as seen:
    print(list(next(seen.scan())))
"""


def filled(kind: StoreKind, folder: Path, **entries: str) -> Any:
    store = open_store(kind, folder, StoreIdentity("run", "task", "t", "m"), owner="tests")
    keys = pa.array([*(key.encode() for key in entries), LONG], pa.binary())
    store.put(keys, pa.array([*(value.encode() for value in entries.values()), b"long"], pa.binary()))
    store.apply(StoreMark("run", "task", "t", "m", "", 0, 5, {"s#0": len(entries)}))
    return store


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_has_the_entries_and_the_mark_of_its_moment_and_outlives_its_own_folder(
    kind: StoreKind, tmp_path: Path
) -> None:
    store = filled(kind, tmp_path / "store", a="1", b="2")
    store.copy_to(tmp_path / "copy")
    store.put(pa.array([b"a"]), pa.array([b"changed"]))
    store.apply(StoreMark("run", "task", "t", "m", "", 0, 6, {"s#0": 3}))
    copy = open_snapshot(kind, tmp_path / "copy")
    store.close()
    for file in (tmp_path / "copy").iterdir():
        file.unlink()
    assert copy.mark == StoreMark("run", "task", "t", "m", "", 0, 5, {"s#0": 2})
    assert dict(copy.scan()) == {b"a": b"1", b"b": b"2", LONG: b"long"}
    assert copy.get(pa.array([b"b", b"none", LONG])).to_pylist() == [b"2", None, b"long"]
    copy.close()


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_can_be_looked_into_while_it_is_open(kind: StoreKind, tmp_path: Path) -> None:
    store = filled(kind, tmp_path / "store", a="1")
    looking = [sys.executable, "-c", LOOK, kind, str(tmp_path / "store")]
    assert subprocess.run(looking, check=True, capture_output=True, text=True).stdout == "[b'a', b'1']\n"
    store.close()


def test_a_store_in_memory_has_no_copies(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="memory"):
        open_snapshot(StoreKind.MEMORY, tmp_path)
