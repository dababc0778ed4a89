"""Executors come and go; each processor keeps its own as long as it lives."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.driver.seating import seated

executors = st.integers(0, 30).map(str)


@st.composite
def changes(draw: st.DrawFn) -> tuple[dict[str, str], set[str], list[str]]:
    before = draw(st.lists(executors, unique=True, max_size=8))
    living = draw(st.sets(executors, max_size=12))
    names = [f"processor-{number}" for number in range(draw(st.integers(1, 8)))]
    return dict(zip(names, before, strict=False)), living, names


@given(changes())
def test_as_many_processors_as_can_have_a_living_executor_of_their_own(
    change: tuple[dict[str, str], set[str], list[str]],
) -> None:
    before, living, names = change
    now = seated(before, living, names)
    assert len(now) == len(set(now.values())) == min(len(names), len(living))
    assert living.issuperset(now.values())


@given(changes())
def test_a_processor_whose_executor_lives_keeps_it(
    change: tuple[dict[str, str], set[str], list[str]],
) -> None:
    before, living, names = change
    now = seated(before, living, names)
    for name, executor in before.items():
        assert name not in names or executor not in living or now[name] == executor


def test_a_new_executor_takes_the_lane_of_the_one_that_died() -> None:
    before = {"a": "0", "b": "1", "c": "2"}
    assert seated(before, {"0", "2", "10"}, ["a", "b", "c"]) == {"a": "0", "b": "10", "c": "2"}


def test_the_processor_whose_executor_died_is_the_one_that_has_none() -> None:
    assert seated({"a": "0", "b": "1", "c": "2"}, {"0", "2"}, ["a", "b", "c"]) == {"a": "0", "c": "2"}


def test_at_first_executors_take_lanes_in_the_order_in_which_they_were_numbered() -> None:
    assert seated({}, {"10", "9", "2"}, ["a", "b", "c"]) == {"a": "2", "b": "9", "c": "10"}
