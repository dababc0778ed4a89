"""Where stores of tasks are taken to lie, and how far they are taken to be."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.placement.locations.store_history import (
    MOST_FORMER_PLACES,
    MOST_PLACES,
    USABLE_SECONDS,
    StoreHistory,
    StorePlace,
)

NOW = 1_000_000.0


def after(*moves: tuple[str | None, int]) -> StoreHistory:
    """The history of task `a`, which came to these locations with its checkpoint so far, a second apart."""
    history = StoreHistory()
    for number, (location, position) in enumerate(moves):
        history = history.with_locations({"a": location}, {"a": position}, (), NOW + number)
    return history


def test_a_task_that_moves_leaves_its_stores_as_far_as_its_checkpoint_was() -> None:
    history = after(("l1", 0), ("l2", 70))
    assert history.positions(NOW + 1) == {"a": {"l2": 0, "l1": 70}}  # it has only just begun to restore
    restored = history.with_locations({"a": "l2"}, {"a": 95}, (), NOW + 9)
    assert restored.places["a"] == (StorePlace("l2", 95, 1_000_009), StorePlace("l1", 70, 1_000_001))
    assert restored.positions(NOW + 9) == {"a": {"l2": 95, "l1": 70}}


def test_a_task_that_returns_finds_its_stores_as_it_has_left_them() -> None:
    history = after(("l1", 0), ("l2", 70), ("l1", 90))
    assert history.places["a"] == (StorePlace("l1", 70, 1_000_002), StorePlace("l2", 90, 1_000_002))


def test_a_task_that_leaves_before_it_was_restored_leaves_no_more_than_it_came_to() -> None:
    history = after(("l1", 0), ("l2", 70))
    moved_on = history.with_locations({"a": "l3"}, {"a": 75}, {"a"}, NOW + 5)
    assert [(place.location, place.position) for place in moved_on.places["a"]] == [
        ("l3", 0),
        ("l2", 0),
        ("l1", 70),
    ]


def test_where_a_task_is_may_be_unknown_and_then_nothing_is_remembered_anew() -> None:
    assert after((None, 10)).places == {}
    assert after(("l1", 0), (None, 10)).places["a"] == (StorePlace("l1", 10, 1_000_001),)


def test_a_store_that_was_left_too_long_ago_is_none() -> None:
    history = after(("l1", 0), ("l2", 70), ("l2", 80))
    assert history.positions(NOW + 1 + USABLE_SECONDS) == {"a": {"l2": 80, "l1": 70}}
    assert history.positions(NOW + 2 + USABLE_SECONDS) == {"a": {"l2": 80}}


def test_a_location_that_lost_its_disk_is_forgotten_but_for_those_who_are_there() -> None:
    history = StoreHistory(
        {
            "a": (StorePlace("l1", 9, 20), StorePlace("l2", 8, 10)),
            "b": (StorePlace("l2", 9, 20), StorePlace("l1", 8, 10)),
            "c": (StorePlace("l3", 9, 20), StorePlace("l2", 8, 15)),
        }
    )
    assert history.without_location("l2", 12).places == {
        "a": (StorePlace("l1", 9, 20),),
        "b": history.places["b"],
        "c": history.places["c"],
    }


@given(st.lists(st.tuples(st.sampled_from([None, "l1", "l2", "l3", "l4", "l5", "l6"]), st.integers(0, 99))))
def test_each_location_is_remembered_once_and_only_the_last_few_are(
    moves: list[tuple[str | None, int]],
) -> None:
    known = [location for location, _ in moves if location]
    places = [place.location for place in after(*moves).places.get("a", ())]
    assert places == list(dict.fromkeys(reversed(known)))[: 1 + MOST_FORMER_PLACES]


def test_of_very_many_tasks_those_that_moved_last_are_written() -> None:
    history = StoreHistory(
        {
            f"t{number:05d}": (StorePlace("l1", 1, 5), StorePlace("l2", 1, number))
            for number in range(MOST_PLACES)
        }
    )
    bounded = history.bounded()
    assert sorted(bounded.places) == [f"t{number:05d}" for number in range(MOST_PLACES // 2, MOST_PLACES)]
    assert bounded.bounded() == bounded
