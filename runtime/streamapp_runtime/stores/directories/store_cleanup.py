"""Finds the stores that no app owns any more, and removes those that no process holds."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from streamapp_runtime.stores.directories import store_files
from streamapp_runtime.stores.directories.owned_stores import OwnedStores
from streamapp_runtime.stores.directories.state_directory import (
    app_directory,
    state_directory,
    stored_tables,
    stored_tasks,
)
from streamapp_runtime.stores.directories.store_lock import lock_store
from streamapp_runtime.stores.directories.store_stats import store_stats
from streamapp_runtime.stores.store import StoreBusyError

GRACE_SECONDS = 24 * 3_600.0
"""A store that was written within this time stays: the app may be about to be rolled back."""


@dataclass(frozen=True, slots=True)
class UnownedStore:
    """A store that nobody owns."""

    application_id: str
    task: str
    table: str
    why: str
    size: int  # bytes on disk
    touched: float  # when, in seconds of the system's clock


def unowned_stores(root: Path, application_id: str, owned: OwnedStores | None) -> Iterator[UnownedStore]:
    """The stores of an app that are not among what it owns; all of them where the app is no more."""
    for task in sorted(stored_tasks(root, application_id)):
        for table in sorted(stored_tables(root, application_id, task)):
            directory = state_directory(root, application_id, task, table)
            if not (directory / "form").exists() and not (directory / "data").exists():
                continue  # no store, or one that is only just made
            stats = store_stats(directory)
            run_id = stats.mark.run_id if stats and stats.mark else None
            why = owned.lacks(run_id, task, table) if owned else "there is no such app"
            if why:
                size, touched = _size_and_last_write(directory)
                yield UnownedStore(application_id, task, table, why, size, touched)


def remove_store(root: Path, store: UnownedStore) -> bool:
    """Remove a store; False where a process holds the store."""
    directory = state_directory(root, store.application_id, store.task, store.table)
    try:
        hold = lock_store(directory, store.application_id, 0.0)
    except StoreBusyError:
        return False
    try:
        store_files.remove_data(directory)
        shutil.rmtree(directory, ignore_errors=True)
    finally:
        hold.release()
    top = app_directory(root, store.application_id)
    for above in directory.parents:
        if above == top:
            break
        with suppress(OSError):  # another store lies there
            above.rmdir()
    return True


def remove_unowned_stores(
    root: Path, application_id: str, owned: OwnedStores, now: float
) -> list[UnownedStore]:
    """Remove the stores that an app does not own and that were not written for long; gives those removed."""
    stale_stores = [
        each for each in unowned_stores(root, application_id, owned) if now - each.touched > GRACE_SECONDS
    ]
    return [each for each in stale_stores if remove_store(root, each)]


def _size_and_last_write(directory: Path) -> tuple[int, float]:
    """Bytes on disk, and when the newest file was written."""
    size, touched = 0, 0.0
    for folder, _, files in os.walk(directory):
        for file in files:
            with suppress(FileNotFoundError):  # its holder may remove it just then
                stat = Path(folder, file).stat()
                size += 512 * stat.st_blocks
                touched = max(touched, stat.st_mtime)
    return size, touched
