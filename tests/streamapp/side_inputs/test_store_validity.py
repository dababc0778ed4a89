"""A store is gone on with only where nothing can have been missed."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.side_inputs.store_validity import (
    StoreOnDisk,
    invalid_reason,
    is_refresh_due,
    is_stale,
)
from streamapp.tasks.partition import OffsetSpan, Partition

DAY = 86_400_000
NOW = 10 * DAY
A, B = Partition("users>tiers", 0), Partition("users>tiers", 1)

positions = st.integers(0, 20)
extents = st.tuples(positions, positions).map(lambda ends: OffsetSpan(min(ends), max(ends)))


def test_a_store_is_trusted_up_to_its_retention_and_not_at_it() -> None:
    held = {A: OffsetSpan(0, 9)}
    assert invalid_reason(StoreOnDisk(NOW - DAY + 1, {A: 5}), held, NOW, DAY) is None
    assert invalid_reason(StoreOnDisk(NOW - DAY, {A: 5}), held, NOW, DAY) == (
        f"it was left alone for {DAY} ms, and is trusted for {DAY}"
    )


def test_a_store_that_missed_records_which_are_gone_is_doubted() -> None:
    assert invalid_reason(StoreOnDisk(NOW, {A: 5}), {A: OffsetSpan(6, 9)}, NOW, DAY) == (
        "users>tiers#0 now begins at 6; the store contains records before 5"
    )


def test_a_store_of_a_stream_that_was_made_anew_is_doubted() -> None:
    assert invalid_reason(StoreOnDisk(NOW, {A: 5}), {A: OffsetSpan(0, 4)}, NOW, DAY) == (
        "users>tiers#0 now ends at 4; the store contains records before 5"
    )


def test_a_store_with_rows_of_a_partition_that_went_to_another_task_is_doubted() -> None:
    found = invalid_reason(StoreOnDisk(NOW, {A: 5, B: 5}), {A: OffsetSpan(0, 9)}, NOW, DAY)
    assert found == "it contains users>tiers#1, which is not its own any more"


def test_a_store_that_does_not_know_a_partition_that_was_added_is_not_doubted() -> None:
    assert (
        invalid_reason(StoreOnDisk(NOW, {A: 5}), {A: OffsetSpan(0, 9), B: OffsetSpan(0, 9)}, NOW, DAY) is None
    )


def test_a_store_that_says_nothing_is_doubted() -> None:
    assert (
        invalid_reason(StoreOnDisk(NOW, {}), {A: OffsetSpan(0, 9)}, NOW, DAY)
        == "it does not say what it contains"
    )


@given(
    st.dictionaries(st.sampled_from([A, B]), positions, min_size=1),
    st.dictionaries(st.sampled_from([A, B]), extents),
    st.integers(0, 2 * DAY),
)
def test_a_store_is_gone_on_with_exactly_when_every_position_is_still_within_its_partition(
    found: dict[Partition, int], held: dict[Partition, OffsetSpan], age: int
) -> None:
    valid = invalid_reason(StoreOnDisk(NOW - age, found), held, NOW, DAY) is None
    reachable = {p: range(held[p].oldest, held[p].end + 1) for p in held}
    assert valid == (age < DAY and all(at in reachable.get(p, ()) for p, at in found.items()))


@given(st.integers(1, 100), st.integers(0, 400))
def test_a_store_in_use_is_refreshed_before_it_could_be_stale(retention: int, age: int) -> None:
    assert is_refresh_due(age, retention) or not is_stale(age, retention)
    assert not is_refresh_due(0, retention)
