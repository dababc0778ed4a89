"""Rows of both sides of a join, and the pairs that they should make."""

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
from hypothesis import strategies as st

from streamapp_runtime.rows.slice import Slice
from tests.harness.engine.plain_rows import Row, slice_of, some_rows
from tests.harness.engine.task_lane import TASKS

LEFT = pa.schema([("page", pa.string())])


RIGHT = pa.schema([("item", pa.int64()), ("price", pa.float64())])


NOTHING = pa.schema([])


KEYS = st.sampled_from([None, b"", b"ann", b"bob"])


CHOSEN = (1, 0)  # the right's item, the left's page


def sides(
    times: st.SearchStrategy[int | None], most: int = 8
) -> st.SearchStrategy[tuple[list[Row], list[Row]]]:
    left = some_rows(KEYS, st.none() | st.tuples(st.text(max_size=2)), times=times, tasks=TASKS, most=most)
    right = some_rows(
        KEYS, st.none() | st.tuples(st.integers(0, 99), st.just(0.5)), times=times, tasks=TASKS, most=most
    )
    return st.tuples(left, right)


def side_slices(left: Sequence[Row], right: Sequence[Row]) -> tuple[Slice, Slice]:
    return slice_of(left, LEFT), slice_of(right, RIGHT)


def paired(left: Row | None, right: Row | None) -> tuple[object, ...]:
    some = left or right
    assert some is not None
    time = max(row.time for row in (left, right) if row is not None)
    columns = (right and right.columns[0], left and left.columns[0])
    return some.task, some.key, time, columns


def row_counts(rows: Sequence[Row]) -> Counter[tuple[object, ...]]:
    return Counter((row.task, row.key, row.time, row.columns) for row in rows)


def meet(left: Row, right: Row) -> bool:
    same = (left.task, left.key) == (right.task, right.key) and left.key is not None
    return same and left.columns is not None and right.columns is not None
