"""From where the streams of a table are read, whatever was found of its store."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from streamapp.side_inputs.store_recovery import FillingPartition, StoreAction, recover_store, resume_position
from streamapp.side_inputs.store_validity import StoreOnDisk
from streamapp.tasks.partition import OffsetSpan, Partition

DAY = 86_400_000
NOW = 10 * DAY
A, B = Partition("users>tiers", 0), Partition("users>tiers", 1)
SOURCE = FillingPartition(bootstrap=True, held_offsets=OffsetSpan(100, 200), last=150)


def begun(found: StoreOnDisk | None, source: FillingPartition) -> tuple[StoreAction, int]:
    decided = recover_store(found, {A: source}, now_ms=NOW, retention_ms=DAY)
    return decided.action, decided.positions[A]


def test_a_new_store_is_filled_from_the_oldest_record_where_the_stream_says_bootstrap() -> None:
    assert begun(None, SOURCE) == (StoreAction.CREATE, 100)


def test_a_new_store_goes_on_from_the_checkpoint_where_it_does_not() -> None:
    assert begun(None, replace(SOURCE, bootstrap=False)) == (StoreAction.CREATE, 150)


def test_a_checkpoint_that_lies_outside_of_the_stream_is_brought_back_into_it() -> None:
    assert begun(None, FillingPartition(False, OffsetSpan(100, 200), 50)) == (StoreAction.CREATE, 100)
    assert begun(None, FillingPartition(False, OffsetSpan(100, 200), 300)) == (StoreAction.CREATE, 200)


def test_a_new_store_of_a_stream_that_nobody_has_read_is_filled_from_the_oldest_record() -> None:
    assert begun(None, FillingPartition(False, OffsetSpan(100, 200))) == (StoreAction.CREATE, 100)


def test_a_store_that_is_not_valid_is_made_again_like_a_new_one() -> None:
    old = StoreOnDisk(NOW - DAY, {A: 160})
    assert begun(old, SOURCE) == (StoreAction.RECREATE, 100)
    assert begun(old, replace(SOURCE, bootstrap=False)) == (StoreAction.RECREATE, 150)


def test_a_valid_store_goes_on_from_what_it_contains_and_not_from_the_checkpoint() -> None:
    assert begun(StoreOnDisk(NOW, {A: 160}), SOURCE) == (StoreAction.KEEP, 160)
    assert begun(StoreOnDisk(NOW, {A: 140}), replace(SOURCE, bootstrap=False)) == (StoreAction.KEEP, 140)


def test_a_side_input_that_grew_keeps_what_it_has_and_starts_the_new_partition_at_its_oldest_record() -> None:
    added = FillingPartition(bootstrap=False, held_offsets=OffsetSpan(3, 9), last=7)
    decided = recover_store(StoreOnDisk(NOW, {A: 160}), {A: SOURCE, B: added}, now_ms=NOW, retention_ms=DAY)
    assert (decided.action, decided.positions) == (StoreAction.KEEP, {A: 160, B: 3})


@given(
    st.none() | st.tuples(st.integers(0, 300), st.integers(0, 2 * DAY)),
    st.booleans(),
    st.tuples(st.integers(0, 200), st.integers(0, 200)),
    st.none() | st.integers(0, 300),
)
def test_reading_always_goes_on_within_what_the_stream_holds(
    found: tuple[int, int] | None, bootstrap: bool, ends: tuple[int, int], last: int | None
) -> None:
    held = OffsetSpan(min(ends), max(ends))
    store = None if found is None else StoreOnDisk(NOW - found[1], {A: found[0]})
    _, at = begun(store, FillingPartition(bootstrap, held, last))
    assert held.oldest <= at <= held.end


def test_reading_resumes_behind_what_is_contained_and_not_before_what_is_there() -> None:
    assert (resume_position(None, 4), resume_position(7, 4), resume_position(2, 4)) == (4, 7, 4)
