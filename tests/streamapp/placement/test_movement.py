from hypothesis import given

from streamapp.placement.movement import Move, movement
from tests.harness.core.placement_worlds import World, worlds

BEFORE = {"a": "p1", "b": "p1", "c": "p2", "d": "p3"}
AT = {"p1": "l1", "p2": "l1", "p3": "l3"}


def test_a_move_touches_both_its_ends_and_nobody_else() -> None:
    found = movement(BEFORE, {**BEFORE, "b": "p2"}, locations_before=AT, locations_after=AT)
    assert found.moved == (Move("b", "p1", "p2"),)
    assert found.stayed == ("a", "c", "d")
    assert found.touched == ("p1", "p2")
    assert found.untouched == ("p3",)
    assert found.location_moves == ()


def test_a_move_to_another_location_leaves_the_stores_behind() -> None:
    found = movement(BEFORE, {**BEFORE, "b": "p3"}, locations_before=AT, locations_after=AT)
    assert found.location_moves == ("b",)


def test_a_move_between_unknown_locations_counts_as_one_to_another() -> None:
    assert movement(BEFORE, {**BEFORE, "b": "p3"}).location_moves == ("b",)


def test_a_processor_that_came_back_elsewhere_is_touched_and_its_tasks_find_no_stores() -> None:
    found = movement(BEFORE, BEFORE, locations_before=AT, locations_after={**AT, "p1": "l9"})
    assert found.moved == ()
    assert found.touched == ("p1",)
    assert found.location_moves == ("a", "b")


def test_a_location_that_is_not_known_any_more_touches_nobody() -> None:
    found = movement(BEFORE, BEFORE, locations_before=AT, locations_after={**AT, "p1": None})
    assert found.untouched == ("p1", "p2", "p3")


def test_what_comes_and_goes_is_named() -> None:
    after = {"a": "p1", "b": "p1", "c": "p4", "e": "p1"}
    found = movement(BEFORE, after, locations_before=AT, locations_after={"p1": "l1", "p4": "l1", "p5": "l5"})
    assert (found.added_tasks, found.removed_tasks) == (("e",), ("d",))
    assert (found.added_processors, found.removed_processors) == (("p4", "p5"), ("p2", "p3"))
    assert found.touched == ("p1",)


@given(worlds(), worlds())
def test_moved_stayed_begun_and_ended_are_all_tasks_there_are(one: World, other: World) -> None:
    before, after = one.placed().processor_of, other.placed().processor_of
    found = movement(before, after)
    moved = {move.task for move in found.moved}
    assert moved.isdisjoint(found.stayed)
    assert moved | set(found.stayed) | set(found.added_tasks) == set(after)
    assert moved | set(found.stayed) | set(found.removed_tasks) == set(before)
    assert set(found.touched) | set(found.untouched) | set(found.added_processors) == set(
        after.values()
    ) | set(found.touched)
