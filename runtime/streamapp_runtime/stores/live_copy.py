"""A store's rows, read beside the process that has it open: nothing is locked, nothing is written."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import lmdb

from streamapp_runtime.stores.store import Store, StoreBusyError, StoreKind
from streamapp_runtime.stores.store_snapshot import open_snapshot

_ATTEMPTS = 20


@contextmanager
def open_live_copy(kind: StoreKind, directory: Path) -> Iterator[Store]:
    """The store of a directory as it was at one moment; StoreBusyError where it is written too fast."""
    data = directory / "data"
    if kind is StoreKind.ROCKSDB:
        with closing(open_snapshot(kind, data)) as store:
            yield store
        return
    with TemporaryDirectory() as folder:
        _copy(data, Path(folder))
        with closing(open_snapshot(kind, Path(folder))) as store:
            yield store


def _copy(data: Path, folder: Path) -> None:
    """A copy in which no commit came: without LMDB's lock nothing else keeps pages as they are."""
    for _ in range(_ATTEMPTS):
        before = _commits(data)
        shutil.copyfile(data / "data.mdb", folder / "data.mdb")
        if _commits(data) == before:
            return
    raise StoreBusyError(str(data.parent), None)


def _commits(data: Path) -> int:
    with lmdb.open(str(data), max_dbs=3, lock=False, readonly=True, create=False) as env:
        return int(env.info()["last_txnid"])
