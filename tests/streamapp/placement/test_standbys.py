from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from streamapp.placement.placer import place_tasks
from streamapp.placement.standby import place_standbys
from streamapp.placement.task_placement import TaskPlacement
from tests.harness.core.placement_worlds import World, worlds


def placed(tasks: int, at: dict[str, str | None]) -> TaskPlacement:
    found = place_tasks([f"t{n:03d}" for n in range(tasks)], {}, at)
    assert isinstance(found, TaskPlacement)
    return found


@given(worlds(), st.integers(0, 4))
def test_copies_share_no_processor_and_share_a_location_only_when_they_must(
    world: World, replicas: int
) -> None:
    placement = world.placed()
    found = place_standbys(placement, replicas)
    at = world.processor_locality
    live = {location for location in at.values() if location}
    for task, runs in placement.processor_of.items():
        holders = [runs, *found.copies[task]]
        assert len(set(holders)) == len(holders)
        assert len(holders) == min(1 + replicas, len(at))
        assert found.missing.get(task, 0) == 1 + replicas - len(holders)
        known = [at[name] for name in holders if at[name]]
        # As many locations as there are copies for, counting the one that the task has or does not know.
        reachable = min(replicas, len(live - {at[runs]}))
        assert len(set(known) - {at[runs]}) == reachable
        apart = len(set(known)) == len(holders)
        assert (task in found.exposed) == (bool(found.copies[task]) and not apart)


def test_copies_are_spread_evenly() -> None:
    found = place_standbys(placed(60, {f"p{n}": f"l{n // 2}" for n in range(6)}), 2)
    assert set(Counter(name for copies in found.copies.values() for name in copies).values()) == {20}
    assert found.problem == ""


def test_copies_of_before_stay_where_they_are_when_a_processor_joins() -> None:
    at: dict[str, str | None] = {f"p{n}": f"l{n}" for n in range(4)}
    placement = placed(40, at)
    before = place_standbys(placement, 1)
    grown = place_tasks(sorted(placement.processor_of), {}, {**at, "p4": "l4"}, placement.processor_of)
    assert isinstance(grown, TaskPlacement)
    after = place_standbys(grown, 1, before.copies)
    kept = sum(after.copies[task] == before.copies[task] for task in before.copies)
    assert kept >= 24
    assert max(Counter(name for copies in after.copies.values() for name in copies).values()) <= 9


def test_a_copy_of_before_that_its_task_has_joined_at_its_location_goes_elsewhere() -> None:
    placement = placed(1, {"p1": "l1", "p2": "l1", "p3": "l3"})
    found = place_standbys(placement, 1, {"t000": ("p2",)})
    assert found.copies == {"t000": ("p3",)}


def test_with_one_location_the_copies_go_beside_the_task_and_that_is_said() -> None:
    found = place_standbys(placed(4, {"p1": "l", "p2": "l"}), 1)
    assert found.copies["t000"] == ("p2",)
    assert found.exposed == ("t000", "t001", "t002", "t003")
    assert found.problem.startswith("4 tasks have copies that may share a location")


def test_with_one_processor_no_copy_can_be_had_and_that_is_said() -> None:
    found = place_standbys(placed(2, {"p1": "l1"}), 2)
    assert found.copies == {"t000": (), "t001": ()}
    assert found.missing == {"t000": 2, "t001": 2}
    assert found.problem.startswith("4 copies have no processor to be on")


def test_a_known_location_is_better_than_an_unknown_one() -> None:
    found = place_standbys(placed(1, {"p1": "l1", "p2": None, "p3": "l3"}), 2)
    assert found.copies == {"t000": ("p3", "p2")}
    assert found.exposed == ("t000",)
