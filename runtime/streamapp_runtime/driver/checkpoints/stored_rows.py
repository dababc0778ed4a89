"""A table that side inputs fill, as its stores hold it: there is no changelog to read it from."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pyarrow as pa

from streamapp_runtime.driver.checkpoints.committed_rows import TaskRows
from streamapp_runtime.lanes.tables_file import KnownTable
from streamapp_runtime.lanes.task_stores.sealed_versions import SEALED_FOLDER
from streamapp_runtime.stores.directories.state_directory import state_directory, stored_tables, stored_tasks
from streamapp_runtime.stores.live_copy import open_live_copy
from streamapp_runtime.stores.store import Store, StoreKind
from streamapp_runtime.stores.store_snapshot import open_snapshot


def _seen(kind: StoreKind, directory: Path) -> AbstractContextManager[Store]:
    """The state that rows see: the last whole version where rows come as versions, else the store."""
    numbers = [
        int(folder.name[1:])
        for folder in directory.glob(f"{SEALED_FOLDER}/v*")
        if folder.name[1:].isdecimal()
    ]
    if not numbers:
        return open_live_copy(kind, directory)
    return closing(open_snapshot(kind, directory / SEALED_FOLDER / f"v{max(numbers)}"))


def stored_rows(root: Path, application_id: str, table: KnownTable, key: bytes | None) -> Iterator[TaskRows]:
    """The rows of each task that has any here, or the row of one key. StoreBusyError while they pour in."""
    for task in sorted(stored_tasks(root, application_id)):
        if table.name not in stored_tables(root, application_id, task):
            continue
        with _seen(StoreKind(table.store), state_directory(root, application_id, task, table.name)) as store:
            chunks = list(store.batches() if key is None else store.batches(key, key + b"\0"))
        empty = pa.array([], pa.binary())
        keys = pa.concat_arrays([empty, *(keys for keys, _ in chunks)])
        values = pa.concat_arrays([empty, *(values for _, values in chunks)])
        for row_keys, rows in table.rows(keys, values, key):
            yield TaskRows(task, row_keys, rows)
