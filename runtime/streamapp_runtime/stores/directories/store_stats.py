"""Statistics of a store, read beside the process that has it open: nothing is locked or written.

An LMDB store is opened without a lock by its holder. A page that a commit replaces is written over two
commits later at the earliest; so the few pages looked at here are sound when at most one came meanwhile.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import lmdb
from rocksdict import AccessType, Options, Rdict

from streamapp_runtime.stores import store_mark
from streamapp_runtime.stores.directories.state_directory import state_directory, stored_tables, stored_tasks
from streamapp_runtime.stores.store import StoreDamagedError, StoreKind, StoreMark

_MARK = b"mark"
_ATTEMPTS = 20
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class StoreStats:
    """The statistics of a store at one moment. Without a mark nothing was ever committed to it."""

    kind: StoreKind
    entries: int | None  # None where it was written too fast to be counted; roughly, for RocksDB
    size: int  # bytes on disk
    mark: StoreMark | None


def store_stats(directory: Path) -> StoreStats | None:
    """The statistics of the store of a directory; None where there is none, or it cannot be read."""
    try:
        kind = StoreKind(json.loads((directory / "form").read_text("utf-8"))["kind"])
        return _STATS_READERS[kind](directory / "data")
    except (OSError, ValueError, TypeError, KeyError, StoreDamagedError):
        return None


def app_store_stats(root: Path, application_id: str) -> Iterator[tuple[str, str, StoreStats]]:
    """Task, table and content of every store that an app has on disk here."""
    for task in sorted(stored_tasks(root, application_id)):
        for table in sorted(stored_tables(root, application_id, task)):
            stats = store_stats(state_directory(root, application_id, task, table))
            if stats is not None:
                yield task, table, stats


def _lmdb_stats(data: Path) -> StoreStats:
    size = _size(data)
    for _ in range(_ATTEMPTS):
        with suppress(lmdb.Error):
            counted = _count_entries(data)
            if counted is not None:
                entries, mark_bytes = counted
                return StoreStats(
                    StoreKind.LMDB,
                    entries,
                    size,
                    None if mark_bytes is None else store_mark.mark_from_bytes(mark_bytes),
                )
    return StoreStats(StoreKind.LMDB, None, size, None)


def _count_entries(data: Path) -> tuple[int, bytes | None] | None:
    """Entries and mark, or None where the pages may have changed meanwhile."""
    with lmdb.open(str(data), max_dbs=3, lock=False, readonly=True, create=False) as env:
        entries, buckets, mark = (env.open_db(name, create=False) for name in (b"entries", b"long", b"mark"))
        with env.begin() as transaction:
            count = transaction.stat(entries)["entries"] + transaction.stat(buckets)["entries"]
            mark_bytes = transaction.get(_MARK, db=mark)
            transaction_id = transaction.id()
        return (count, mark_bytes) if env.info()["last_txnid"] <= transaction_id + 1 else None


def _rocksdb_stats(data: Path) -> StoreStats:
    try:
        families = {"mark": Options(raw_mode=True)}
        entries = Rdict(str(data), Options(raw_mode=True), families, access_type=AccessType.read_only())
    except Exception:  # rocksdict has no class of its own: its holder removed a file just then
        return StoreStats(StoreKind.ROCKSDB, None, _size(data), None)
    mark = entries.get_column_family("mark")
    mark_bytes = mark.get(_MARK)
    count = entries.property_int_value("rocksdb.estimate-num-keys")
    mark.close()
    entries.close()
    return StoreStats(
        StoreKind.ROCKSDB,
        count,
        _size(data),
        None if mark_bytes is None else store_mark.mark_from_bytes(mark_bytes),
    )


def _size(data: Path) -> int:
    blocks = 0
    for file in data.iterdir():
        with suppress(FileNotFoundError):  # its holder may remove it just then
            blocks += file.stat().st_blocks
    return blocks * _BLOCK


_STATS_READERS = {StoreKind.LMDB: _lmdb_stats, StoreKind.ROCKSDB: _rocksdb_stats}
