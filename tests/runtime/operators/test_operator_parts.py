"""Parts of the operations that have an answer of their own to be held against."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.join.row_pairs import KeyTimes, matching_pairs
from streamapp_runtime.operators.state.changelog_buffer import ChangelogBuffer
from streamapp_runtime.operators.state.time_keys import key_before, keys_without_times, time_keys
from streamapp_runtime.rows.distinct_keys import last_of_each

times = st.integers(-(2**62), 2**62)
points = st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9) | times), max_size=15)
writes = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(["a", "b"]), st.binary(max_size=1), st.none() | st.binary())
)


@given(points, points, st.integers(0, 9))
def test_pairs_are_all_of_equal_keys_that_are_no_further_apart_than_allowed(left, right, within):
    def of(given_points):
        array = np.array(given_points, np.int64).reshape(-1, 2)
        return KeyTimes(array[:, 0], array[:, 1])

    found = list(
        zip(*(places.tolist() for places in matching_pairs(of(left), of(right), within)), strict=True)
    )
    expected = [
        (a, b)
        for a, (key, time) in enumerate(left)
        for b, (other, then) in enumerate(right)
        if key == other and abs(time - then) <= within
    ]
    assert sorted(found) == expected
    assert [a for a, _ in found] == sorted(a for a, _ in found)


@given(st.lists(st.binary(max_size=2)))
def test_the_last_row_of_each_key_is_found_in_order(keys):
    expected = sorted({key: place for place, key in enumerate(keys)}.values())
    assert last_of_each(pa.array(keys, pa.binary())).to_pylist() == expected


@given(st.lists(st.tuples(times, st.binary(max_size=3)), min_size=1), times)
def test_keys_sort_by_their_time_and_what_is_before_a_time_is_one_range(entries, bound):
    moments, keys = zip(*entries, strict=True)
    stored = time_keys(np.array(moments, np.int64), pa.array(keys, pa.binary()))
    assert keys_without_times(stored).to_pylist() == list(keys)
    assert [key for _, key in sorted(zip(entries, stored.to_pylist(), strict=True))] == sorted(
        stored.to_pylist()
    )
    assert [key < key_before(bound) for key in stored.to_pylist()] == [time < bound for time in moments]


@given(writes)
def test_of_all_writes_to_a_key_the_changelog_gets_the_last(made):
    changes = ChangelogBuffer()
    for task, name, key, value in made:
        changes.add(task, name, pa.array([key], pa.binary()), pa.array([value], pa.binary()))
    found = [
        (change.task, change.name, key, value)
        for change in changes.drain()
        for key, value in zip(change.keys.to_pylist(), change.values.to_pylist(), strict=True)
    ]
    last = {(task, name, key): value for task, name, key, value in made}
    assert sorted(found, key=repr) == sorted(((*place, value) for place, value in last.items()), key=repr)
    assert list(changes.drain()) == []
