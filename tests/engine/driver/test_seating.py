"""Executors come and go; each lane keeps its own as long as it lives."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.driver.seating import seated

executors = st.integers(0, 30).map(str)


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[str], set[str], int]:
    before = draw(st.lists(executors, unique=True, max_size=8))
    living = draw(st.sets(executors, min_size=1, max_size=12))
    return before, living, draw(st.integers(1, len(living)))


@given(changes())
def test_every_lane_has_a_living_executor_of_its_own(change: tuple[list[str], set[str], int]) -> None:
    before, living, lanes = change
    now = seated(before, living, lanes)
    assert len(now) == len(set(now)) == lanes
    assert living.issuperset(now)


@given(changes())
def test_a_lane_whose_executor_lives_keeps_it(change: tuple[list[str], set[str], int]) -> None:
    before, living, lanes = change
    now = seated(before, living, lanes)
    for lane, executor in enumerate(before[:lanes]):
        assert executor not in living or now[lane] == executor


def test_a_new_executor_takes_the_lane_of_the_one_that_died() -> None:
    assert seated(["0", "1", "2"], {"0", "2", "10"}, 3) == ("0", "10", "2")


def test_at_first_executors_take_lanes_in_the_order_in_which_they_were_numbered() -> None:
    assert seated((), {"10", "9", "2"}, 3) == ("2", "9", "10")
