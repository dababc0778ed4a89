"""From where the streams of a table are read, whatever was found of its store."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from streamapp.adjunct.recovery import Action, Source, recover, resumed
from streamapp.adjunct.validity import Extent, Found
from streamapp.tasks.partition import Partition

DAY = 86_400_000
NOW = 10 * DAY
A, B = Partition("users>tiers", 0), Partition("users>tiers", 1)
SOURCE = Source(bootstrap=True, held=Extent(100, 200), last=150)


def begun(found: Found | None, source: Source) -> tuple[Action, int]:
    decided = recover(found, {A: source}, now_ms=NOW, retention_ms=DAY)
    return decided.action, decided.positions[A]


def test_a_new_store_is_filled_from_the_oldest_record_where_the_stream_says_bootstrap() -> None:
    assert begun(None, SOURCE) == (Action.CREATE, 100)


def test_a_new_store_goes_on_from_the_checkpoint_where_it_does_not() -> None:
    assert begun(None, replace(SOURCE, bootstrap=False)) == (Action.CREATE, 150)


def test_a_checkpoint_that_lies_outside_of_the_stream_is_brought_back_into_it() -> None:
    assert begun(None, Source(False, Extent(100, 200), 50)) == (Action.CREATE, 100)
    assert begun(None, Source(False, Extent(100, 200), 300)) == (Action.CREATE, 200)


def test_a_new_store_of_a_stream_that_nobody_has_read_is_filled_from_the_oldest_record() -> None:
    assert begun(None, Source(False, Extent(100, 200))) == (Action.CREATE, 100)


def test_a_store_that_is_not_valid_is_made_again_like_a_new_one() -> None:
    old = Found(NOW - DAY, {A: 160})
    assert begun(old, SOURCE) == (Action.RECREATE, 100)
    assert begun(old, replace(SOURCE, bootstrap=False)) == (Action.RECREATE, 150)


def test_a_valid_store_goes_on_from_what_it_contains_and_not_from_the_checkpoint() -> None:
    assert begun(Found(NOW, {A: 160}), SOURCE) == (Action.KEEP, 160)
    assert begun(Found(NOW, {A: 140}), replace(SOURCE, bootstrap=False)) == (Action.KEEP, 140)


def test_a_side_input_that_grew_keeps_what_it_has_and_starts_the_new_partition_at_its_oldest_record() -> None:
    added = Source(bootstrap=False, held=Extent(3, 9), last=7)
    decided = recover(Found(NOW, {A: 160}), {A: SOURCE, B: added}, now_ms=NOW, retention_ms=DAY)
    assert (decided.action, decided.positions) == (Action.KEEP, {A: 160, B: 3})


@given(
    st.none() | st.tuples(st.integers(0, 300), st.integers(0, 2 * DAY)),
    st.booleans(),
    st.tuples(st.integers(0, 200), st.integers(0, 200)),
    st.none() | st.integers(0, 300),
)
def test_reading_always_goes_on_within_what_the_stream_holds(
    found: tuple[int, int] | None, bootstrap: bool, ends: tuple[int, int], last: int | None
) -> None:
    held = Extent(min(ends), max(ends))
    store = None if found is None else Found(NOW - found[1], {A: found[0]})
    _, at = begun(store, Source(bootstrap, held, last))
    assert held.oldest <= at <= held.end


def test_reading_resumes_behind_what_is_contained_and_not_before_what_is_there() -> None:
    assert (resumed(None, 4), resumed(7, 4), resumed(2, 4)) == (4, 7, 4)
