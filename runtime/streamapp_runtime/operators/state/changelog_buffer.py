"""Changelog entries of a batch: per task and name, only the last one of each key."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.rows.distinct_keys import last_of_each


@dataclass(frozen=True, slots=True)
class TableChanges:
    """The changes that a batch leaves of one task's writes to a table, or to an operator's own state."""

    task: int
    name: str
    keys: pa.Array
    values: pa.Array  # null where the key was deleted


class ChangelogBuffer:
    """Collects the writes of a batch."""

    def __init__(self) -> None:
        self._written: dict[tuple[int, str], list[tuple[pa.Array, pa.Array]]] = {}

    def add(self, task: int, name: str, keys: pa.Array, values: pa.Array) -> None:
        """Note writes of one task, no two of one key; those of later calls count more."""
        if len(keys):
            self._written.setdefault((task, name), []).append((keys, values))

    def drain(self) -> Iterator[TableChanges]:
        """The changes left of the writes so far, by name and task; the writes are forgotten."""
        written, self._written = self._written, {}
        for task, name in sorted(written, key=lambda each: (each[1], each[0])):
            chunks = written[task, name]
            keys, values = (pa.concat_arrays(parts) for parts in zip(*chunks, strict=True))
            if len(chunks) > 1:
                last = last_of_each(keys)
                keys, values = keys.take(last), values.take(last)
            yield TableChanges(task, name, keys, values)
