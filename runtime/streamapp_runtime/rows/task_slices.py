"""Rows taken apart by task and put together again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.rows.slice import Slice


@dataclass(frozen=True, slots=True)
class TaskSpan:
    """The span of one task's rows among those of others."""

    task: int
    start: int
    length: int


def ordered_by_task(rows: Slice) -> tuple[Slice, Sequence[TaskSpan]]:
    """The rows in the order of their tasks, those of each in the order in which they came."""
    tasks = rows.task.to_numpy()
    if not len(tasks):
        return rows, ()
    if (np.diff(tasks) < 0).any():
        order = np.argsort(tasks, kind="stable")
        rows, tasks = rows.take(pa.array(order)), tasks[order]
    starts = np.flatnonzero(np.diff(tasks, prepend=-1)).tolist()
    return rows, [
        TaskSpan(int(tasks[start]), start, end - start)
        for start, end in zip(starts, [*starts[1:], len(tasks)], strict=True)
    ]


def slices_by_task(rows: Slice) -> Iterator[tuple[int, Slice]]:
    """The rows of each task that has some, in the order in which they came."""
    ordered_rows, spans = ordered_by_task(rows)
    if len(spans) == 1:
        yield spans[0].task, ordered_rows
        return
    for span in spans:
        yield span.task, ordered_rows.slice(span.start, span.length)


def concat_slices(parts: Sequence[Slice]) -> Slice | None:
    """The rows of several slices as one; None where there are none."""
    parts = [part for part in parts if len(part)]
    if len(parts) < 2:
        return parts[0] if parts else None

    def joined(name: str) -> pa.Array:
        return pa.concat_arrays([getattr(part, name) for part in parts])

    return Slice(
        task=joined("task"),
        key=joined("key"),
        time=joined("time"),
        tombstone=joined("tombstone"),
        source=joined("source"),
        offset=joined("offset"),
        columns=tuple(
            pa.concat_arrays(columns) for columns in zip(*(part.columns for part in parts), strict=True)
        ),
    )


def rows_without_origin(task: int, key: pa.Array, time: pa.Array, columns: tuple[pa.Array, ...]) -> Slice:
    """Rows of one task that come from no single record."""
    return Slice(
        task=pa.array(np.full(len(key), task, np.int32)),
        key=key,
        time=time,
        tombstone=pa.array(np.zeros(len(key), bool)),
        source=pa.array(np.full(len(key), -1, np.int32)),
        offset=pa.array(np.full(len(key), -1, np.int64)),
        columns=columns,
    )
