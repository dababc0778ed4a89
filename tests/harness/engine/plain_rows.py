"""Rows as plain values, which is what models reckon with, and the same rows as slices."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from streamapp_runtime.rows.slice import Slice

ANY_TIME: SearchStrategy[int | None] = st.just(0)


class Row(NamedTuple):
    key: bytes | None = None
    columns: tuple[Any, ...] | None = None  # none of a tombstone
    time: int | None = 0
    task: int = 0
    source: int = 0
    offset: int = 0


def some_rows(
    keys: SearchStrategy[bytes | None],
    columns: SearchStrategy[Any],
    *,
    tasks: int,
    times: SearchStrategy[int | None] = ANY_TIME,
    most: int = 30,
) -> SearchStrategy[list[Row]]:
    """Lists of rows, which have the place in their list for an offset."""
    row = st.builds(Row, keys, columns, times, st.integers(0, tasks - 1), st.just(7), st.just(0))
    numbered = st.lists(row, max_size=most).map(enumerate)
    return numbered.map(lambda rows: [row._replace(offset=place) for place, row in rows])


def slice_of(rows: Sequence[Row], schema: pa.Schema) -> Slice:
    nulls = (None,) * len(schema)
    columns = list(zip(*(row.columns or nulls for row in rows), strict=True)) or [()] * len(schema)
    return Slice(
        task=pa.array([row.task for row in rows], pa.int32()),
        key=pa.array([row.key for row in rows], pa.binary()),
        time=pa.array([row.time for row in rows], pa.int64()),
        tombstone=pa.array([row.columns is None for row in rows], pa.bool_()),
        source=pa.array([row.source for row in rows], pa.int32()),
        offset=pa.array([row.offset for row in rows], pa.int64()),
        columns=tuple(pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)),
    )


def rows_of(given: Slice | None) -> list[Row]:
    if given is None:
        return []
    columns = [column.to_pylist() for column in given.columns]
    return [
        Row(key, None if tombstone else tuple(column[at] for column in columns), time, task, source, offset)
        for at, (key, tombstone, time, task, source, offset) in enumerate(
            zip(
                given.key.to_pylist(),
                given.tombstone.to_pylist(),
                given.time.to_pylist(),
                given.task.to_pylist(),
                given.source.to_pylist(),
                given.offset.to_pylist(),
                strict=True,
            )
        )
    ]
