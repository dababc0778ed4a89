"""A table that side inputs fill, as its stores hold it: there is no changelog to read it from."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.driver.committed_rows import TaskRows
from streamapp_runtime.formats.types import arrow_schema
from streamapp_runtime.lanes.tables_file import KnownTable
from streamapp_runtime.rows.decode import decode
from streamapp_runtime.stores.directory import state_directory, tables_found, tasks_found
from streamapp_runtime.stores.opening import StoreKind
from streamapp_runtime.stores.peek import peek


def stored_rows(root: Path, application_id: str, table: KnownTable, key: bytes | None) -> Iterator[TaskRows]:
    """The rows of each task that has any here, or the row of one key. StoreBusyError while they pour in."""
    schema = arrow_schema(table.columns)
    for task in sorted(tasks_found(root, application_id)):
        if table.name not in tables_found(root, application_id, task):
            continue
        with peek(StoreKind(table.store), state_directory(root, application_id, task, table.name)) as store:
            chunks = list(store.batches() if key is None else store.batches(key, key + b"\0"))
        empty = pa.array([], pa.binary())
        keys = pa.concat_arrays([empty, *(keys for keys, _ in chunks)])
        values = pa.concat_arrays([empty, *(values for _, values in chunks)])
        if len(keys):
            order = pc.array_sort_indices(keys)
            yield TaskRows(task, keys.take(order), decode(values.take(order), schema))
