"""Executors come and go; each processor keeps its own as long as it lives."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.placement.locations.location_id import same_location
from streamapp_runtime.driver.executors.binding import bind_executors

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
    now = bind_executors(before, living, names)
    assert len(now) == len(set(now.values())) == min(len(names), len(living))
    assert living.issuperset(now.values())


@given(changes())
def test_a_processor_whose_executor_lives_keeps_it(
    change: tuple[dict[str, str], set[str], list[str]],
) -> None:
    before, living, names = change
    now = bind_executors(before, living, names)
    for name, executor in before.items():
        assert name not in names or executor not in living or now[name] == executor


def test_a_new_executor_takes_the_lane_of_the_one_that_died() -> None:
    before = {"a": "0", "b": "1", "c": "2"}
    assert bind_executors(before, {"0", "2", "10"}, ["a", "b", "c"]) == {"a": "0", "b": "10", "c": "2"}


def test_the_processor_whose_executor_died_is_the_one_that_has_none() -> None:
    assert bind_executors({"a": "0", "b": "1", "c": "2"}, {"0", "2"}, ["a", "b", "c"]) == {"a": "0", "c": "2"}


def test_at_first_executors_take_lanes_in_the_order_in_which_they_were_numbered() -> None:
    assert bind_executors({}, {"10", "9", "2"}, ["a", "b", "c"]) == {"a": "2", "b": "9", "c": "10"}


@given(changes(), st.data())
def test_places_change_who_sits_where_but_not_how_many_nor_who_stays(
    change: tuple[dict[str, str], set[str], list[str]], data: st.DataObject
) -> None:
    before, living, names = change
    at = st.sampled_from(["node-a", "node-b", "node-c"])
    places = data.draw(st.dictionaries(executors, at))
    wanted = data.draw(st.dictionaries(st.sampled_from(names), st.none() | at))
    now, blind = bind_executors(before, living, names, wanted, places), bind_executors(before, living, names)
    assert len(now) == len(set(now.values())) == len(blind)
    assert {name for name in names if before.get(name) in living} <= now.keys()

    def near(seats: dict[str, str]) -> int:
        return sum(same_location(places.get(one), wanted.get(name)) for name, one in seats.items())

    assert near(now) >= near(blind)


def test_new_executors_take_the_lanes_whose_stores_are_on_their_nodes() -> None:
    wanted = {"a": "node-1", "b": "node-2"}
    assert bind_executors({}, {"3", "4"}, ["a", "b"], wanted, {"3": "node-2", "4": "node-1"}) == {
        "a": "4",
        "b": "3",
    }


def test_an_executor_on_another_node_takes_a_lane_that_nobody_nearer_takes() -> None:
    wanted = {"a": "node-1", "b": "node-2"}
    assert bind_executors({}, {"3", "4"}, ["a", "b"], wanted, {"3": "node-2", "4": "node-3"}) == {
        "a": "4",
        "b": "3",
    }


def test_an_unknown_place_is_no_place() -> None:
    assert bind_executors({}, {"3", "4"}, ["a", "b"], {"a": None, "b": ""}, {"4": ""}) == {"a": "3", "b": "4"}


def test_at_first_claims_are_given_to_processors_in_their_order() -> None:
    places = {"1": "state-set-10", "2": "state-set-0", "3": "state-set-2"}
    assert bind_executors({}, places, ["a", "b", "c"], {}, places) == {"a": "2", "b": "3", "c": "1"}
