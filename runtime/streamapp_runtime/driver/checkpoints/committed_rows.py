"""A table, or an operator's store, as of its tasks' last checkpoints, read from its changelog.

A changelog holds what stores hold, whatever they are kept in, memory too; and a log can be read while an app
writes it, which a store that another process has open cannot.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.author.names import checkpoint_stream
from streamapp_runtime.driver.checkpoints.stored_state import read_checkpoint, read_layout
from streamapp_runtime.formats.json.json_writer import json_records
from streamapp_runtime.lanes.tables_file import KnownTable
from streamapp_runtime.rows.distinct_keys import last_of_each
from streamapp_runtime.systems.stream_system import StreamSystem
from streamapp_runtime.systems.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class TaskRows:
    """One task's part of a table, or of an operator's store, in order of the key."""

    task: str
    keys: pa.BinaryArray
    rows: pa.RecordBatch

    def objects(self) -> Iterator[dict[str, Any]]:
        """Each row with its task and its key, as JSON has it; what is no finite number is a text."""
        texts = json_records(self.rows).to_pylist()
        for key, text in zip(self.keys.to_pylist(), texts, strict=True):
            yield {
                "task": self.task.removeprefix("\0"),
                "key": key.decode(errors="backslashreplace"),
                "row": json.loads(text, parse_constant=str),
            }


def committed_rows(
    system: StreamSystem, application_id: str, table: KnownTable, key: bytes | None
) -> Iterator[TaskRows]:
    """The rows of each task that has any, or those of one key."""
    stream = checkpoint_stream(application_id)
    values = system.latest(stream)
    layout = read_layout(values, stream)
    for task, index in sorted(layout.changelog.items()) if layout else ():
        checkpoint = read_checkpoint(values, stream, task)
        if table.changelog is None or checkpoint is None:
            continue
        end = checkpoint.changelogs.get(table.name, 0)
        entry_key = key if table.entries is None else None  # other entries have more in their keys
        entry_keys, entry_rows = _entries(system, TopicPartition(table.changelog, index), end, entry_key)
        for row_keys, rows in table.rows(entry_keys, entry_rows, key):
            yield TaskRows(task, row_keys, rows)


def _entries(
    system: StreamSystem, partition: TopicPartition, end: int, key: bytes | None
) -> tuple[pa.BinaryArray, pa.BinaryArray]:
    """The newest value of every key that was not deleted."""
    start = min(system.spans([partition])[partition].oldest, end)
    entries = [batch.select(["key", "value"]) for batch in system.read(partition, start, end)]
    if key is not None:
        entries = [batch.filter(pc.equal(batch.column("key"), key)) for batch in entries]
    table = pa.Table.from_batches(entries, pa.schema([("key", pa.binary()), ("value", pa.binary())]))
    newest = table.take(last_of_each(table.column("key").combine_chunks()))
    rows = newest.filter(pc.is_valid(newest.column("value"))).sort_by("key")
    return rows.column("key").combine_chunks(), rows.column("value").combine_chunks()
