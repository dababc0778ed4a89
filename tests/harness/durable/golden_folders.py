"""Folders as a version of the product wrote them, packed: what is made, and what has to be read from it.

`python -m tests.harness.durable.golden_folders NAME FILE` packs a folder as the present version writes it.
What lies in tests/durable/golden is never written anew: a new version adds its own beside it.
"""

import sys
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS, RECORDS_WITH_HEADERS, StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.opened_stores import mark, opened, put

MACHINE_FILES = {"lock", "lock.mdb", "LOG", "LOCK"}  # of the machine and the process, and not of the form
STORE_ROWS = {b"ann": b"1", b"bob": b"2", b"k" * 600: b"long"}
RECORD_KEYS, RECORD_VALUES = [b"a", None, b"c"], [b"1", b"2", None]
RECORD_HEADERS = [{"name": "trace", "value": b"00-1"}, {"name": "trace", "value": None}]
LATEST_VALUES = {b"task-0": b"first", b"task-1": b"second"}


def make_store(kind: StoreKind, folder: Path) -> None:
    with closing(opened(kind, folder)) as store:
        put(store, STORE_ROWS)
        store.apply(mark(3))


def make_log(folder: Path) -> None:
    with closing(EmbeddedSystem(str(folder))) as system:
        system.create("views", 2)
        system.create("shop.checkpoint", 1, StreamOptions(compacted=True))
        transaction = system.begin("shop.checkpoint", 1)
        times = pa.array([1_000, 2_000, None], pa.int64())
        columns = [pa.array(RECORD_KEYS, pa.binary()), pa.array(RECORD_VALUES, pa.binary()), times]
        transaction.append(TopicPartition("views", 1), pa.record_batch(columns, schema=RECORDS))
        with_headers = pa.record_batch(
            [[b"a"], [b"1"], [1_000], [RECORD_HEADERS]], schema=RECORDS_WITH_HEADERS
        )
        transaction.append(TopicPartition("views", 0), with_headers)
        for key, value in LATEST_VALUES.items():
            transaction.put("shop.checkpoint", key, value)
        transaction.commit()


MAKERS: dict[str, Callable[[Path], None]] = {
    "embedded-log": make_log,
    "lmdb-store": lambda folder: make_store(StoreKind.LMDB, folder),
    "rocksdb-store": lambda folder: make_store(StoreKind.ROCKSDB, folder),
}


def pack(name: str, file: Path) -> None:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch, name)
        MAKERS[name](folder)
        with tarfile.open(file, "x:xz") as archive:
            archive.add(folder, name, filter=_without_owner)


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return None if Path(entry.name).name in MACHINE_FILES else entry


if __name__ == "__main__":
    pack(sys.argv[1], Path(sys.argv[2]))
