"""Of the assignments that are as balanced and move as few tasks, none has less to restore."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.placement.placement_reason import PlacementReason
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal
from tests.harness.core.placement_worlds import World, worlds_with_stores
from tests.harness.oracles.locality_oracle import dealt, furthest_by_matching, furthest_of_all


def counted(world: World, placement: TaskPlacement) -> tuple[int, int, int]:
    """Both counts and how far all stores are, from the map alone."""
    on_location = on_processor = position = 0
    for task, name in placement.processor_of.items():
        here, home = world.processor_locality[name], world.task_locality.get(task)
        on_location += bool(home) and home == here
        on_processor += world.previous.get(task) == name
        position += world.stores.get(task, {}).get(here or "", 0)
    return on_location, on_processor, position


@given(worlds_with_stores())
def test_the_least_to_restore_is_that_of_the_best_matching_of_tasks_to_slots(world: World) -> None:
    placement = world.placed()
    base, extras = divmod(len(world.tasks), len(world.processor_locality))
    names = frozenset(world.processor_locality)
    best = furthest_by_matching(world, dict.fromkeys(names, base), names, extras)
    assert counted(world, placement) == best
    assert (placement.on_location, placement.on_processor) == best[:2]
    furthest = sum(max(positions.values(), default=0) for positions in world.stores.values())
    assert placement.to_restore == furthest - best[2]


@given(worlds_with_stores(most_tasks=6, most_processors=4))
def test_trying_every_balanced_assignment_finds_none_with_less_to_restore(world: World) -> None:
    assert counted(world, world.placed()) == furthest_of_all(world)


@given(worlds_with_stores(), st.data())
def test_capacities_and_limits_are_kept_and_the_rest_is_still_the_best(
    world: World, data: st.DataObject
) -> None:
    names = sorted(world.processor_locality)
    capacity = data.draw(st.dictionaries(st.sampled_from(names), st.integers(0, 4)))
    limit = data.draw(st.dictionaries(st.sampled_from(names), st.integers(0, 6)))
    placement = place_tasks(
        world.tasks,
        world.task_locality,
        world.processor_locality,
        world.previous,
        stores=world.stores,
        capacity=capacity,
        limit=limit,
    )
    weight = {name: capacity.get(name, 1) for name in names}
    if sum(limit.get(name, len(world.tasks)) for name in names if weight[name]) < len(world.tasks):
        assert isinstance(placement, Refusal)
        return
    assert isinstance(placement, TaskPlacement)
    base, eligible, extras = dealt(len(world.tasks), weight, limit)
    assert counted(world, placement) == furthest_by_matching(world, base, eligible, extras)
    loads = placement.loads
    assert all(base[name] <= load <= base[name] + (name in eligible) for name, load in loads.items())
    assert {name: len(tasks) for name, tasks in placement.tasks_of().items()} == loads


@given(worlds_with_stores(most_tasks=40))
def test_the_order_of_tasks_and_stores_changes_nothing(world: World) -> None:
    mixed = World(
        tuple(reversed(world.tasks)),
        dict(reversed(world.task_locality.items())),
        dict(reversed(world.processor_locality.items())),
        dict(reversed(world.previous.items())),
        {task: dict(reversed(at.items())) for task, at in reversed(world.stores.items())},
    )
    assert mixed.placed() == world.placed()


@given(worlds_with_stores(most_tasks=40))
def test_placed_again_from_its_own_result_nothing_moves(world: World) -> None:
    placement = world.placed()
    after = {task: world.processor_locality[name] for task, name in placement.processor_of.items()}
    again = World(
        world.tasks, after, world.processor_locality, dict(placement.processor_of), world.stores
    ).placed()
    assert again.processor_of == placement.processor_of


def test_of_two_tasks_the_one_leaves_that_has_left_a_store_where_the_place_is_free() -> None:
    before = {"a": "p1", "b": "p1", "c": "p1", "d": "p2"}
    at = {"p1": "l1", "p2": "l2"}
    home = {task: at[name] for task, name in before.items()}
    for returned in "abc":
        stores = {task: {location: 8} for task, location in home.items()}
        stores[returned]["l2"] = 5
        placement = place_tasks(list(before), home, at, before, stores=stores)
        assert isinstance(placement, TaskPlacement)
        assert placement.tasks_of()["p2"] == tuple(sorted({"d", returned}))
        assert placement.to_restore == 3
        assert placement.without_stores == ()
        assert placement.why(returned) is PlacementReason.RETURNED_LOCATION_FULL


def test_of_two_stores_that_were_left_the_nearer_one_is_taken() -> None:
    stores = {"a": {"l1": 10, "l2": 4, "l3": 7}}
    placement = place_tasks(["a"], {"a": "l1"}, {"p2": "l2", "p3": "l3"}, {"a": "p1"}, stores=stores)
    assert isinstance(placement, TaskPlacement)
    assert placement.processor_of == {"a": "p3"}
    assert placement.why("a") is PlacementReason.RETURNED_LOCATION_GONE


def test_where_all_else_is_equal_the_smaller_store_is_the_one_that_is_restored() -> None:
    at = {"p1": "l1", "p2": "l2"}
    stores = {"a": {"l1": 900}, "b": {"l1": 20}}
    placement = place_tasks(["a", "b"], {"a": "l1", "b": "l1"}, at, {"a": "p1", "b": "p1"}, stores=stores)
    assert isinstance(placement, TaskPlacement)
    assert placement.processor_of == {"a": "p1", "b": "p2"}


@dataclass(slots=True)
class Rolling:
    """An app whose processors leave and come back; each task keeps its stores wherever it was."""

    tasks: tuple[str, ...]
    locations: Mapping[str, str]
    rates: tuple[int, ...] = (10,)  # what each task writes between two steps; used in turn
    written: dict[str, int] = field(default_factory=dict)  # by task, all of it
    moves: int = 0
    without_stores: int = 0
    restored: int = 0
    owners: dict[str, str] = field(default_factory=dict)
    stores: dict[str, dict[str, int]] = field(default_factory=dict)

    def place(self, present: Mapping[str, str]) -> TaskPlacement:
        """Place all tasks on these processors, restore them there, and let each write more."""
        homes = {task: self.locations[name] for task, name in self.owners.items()}
        placement = place_tasks(self.tasks, homes, present, self.owners, stores=self.stores)
        assert isinstance(placement, TaskPlacement)
        for task, name in placement.processor_of.items():
            at = self.stores.setdefault(task, {})
            if self.owners and self.owners[task] != name:
                self.moves += 1
                self.without_stores += self.locations[name] not in at
                self.restored += self.written[task] - at.get(self.locations[name], 0)
            self.written[task] = self.written.get(task, 1) + self.rate(task)
            at[self.locations[name]] = self.written[task]
        self.owners = dict(placement.processor_of)
        return placement

    def rate(self, task: str) -> int:
        """The amount that a task writes between two steps."""
        return self.rates[int(task.removeprefix("t")) % len(self.rates)]


@pytest.mark.parametrize(("processors", "tasks"), [(10, 100), (10, 95), (3, 8), (100, 1_000)])
def test_after_each_processor_left_and_came_back_only_the_way_out_was_without_a_store(
    processors: int, tasks: int
) -> None:
    locations = {f"p{number:03d}": f"node-{number}" for number in range(processors)}
    rolling = Rolling(tuple(f"t{number:04d}" for number in range(tasks)), locations)
    rolling.place(locations)
    bound = restore_bound = 0
    for name in locations:
        left = [task for task, owner in rolling.owners.items() if owner == name]
        leaving = len(left)
        bound += leaving
        restore_bound += sum(rolling.written[task] for task in left)  # all of what has to leave
        without_before, moves_before = rolling.without_stores, rolling.moves
        rolling.place({other: at for other, at in locations.items() if other != name})
        assert rolling.moves - moves_before == leaving
        returning = rolling.place(locations)
        assert rolling.without_stores - without_before <= leaving
        assert returning.without_stores == ()
        restore_bound += returning.location_moves * 10  # what was written while they were away
    assert rolling.without_stores <= bound
    assert rolling.restored <= restore_bound
    assert rolling.moves <= 2 * bound


@pytest.mark.parametrize("processors", [7, 100])
def test_a_roll_restores_no_more_bytes_than_those_of_all_who_leave_and_of_their_time_away(
    processors: int,
) -> None:
    """Of unlike tasks a small one may come back in place of a large one that left: it restores less."""
    locations = {f"p{number:03d}": f"node-{number}" for number in range(processors)}
    tasks = tuple(f"t{number:04d}" for number in range(3 * processors + 1))
    rolling = Rolling(tasks, locations, rates=(1, 10, 1_000, 50))
    rolling.place(locations)
    for name in locations:
        left = [task for task, owner in rolling.owners.items() if owner == name]
        moves, restored = rolling.moves, rolling.restored
        all_bytes = sum(rolling.written[task] for task in left)
        rolling.place({other: at for other, at in locations.items() if other != name})
        assert rolling.moves - moves == len(left)
        assert rolling.restored - restored <= all_bytes  # some were elsewhere before
        rolling.place(locations)
        assert rolling.moves - moves <= 2 * len(left)
        assert rolling.restored - restored <= all_bytes + sum(map(rolling.rate, left))


def test_without_what_is_remembered_nearly_all_who_come_back_restore_everything() -> None:
    """The same roll by the last locality alone: what the memory is for."""
    locations = {f"p{number}": f"node-{number}" for number in range(10)}
    rolling = Rolling(tuple(f"t{number:02d}" for number in range(100)), locations)
    rolling.place(locations)
    left = chain.from_iterable(
        ({other: at for other, at in locations.items() if other != name}, locations) for name in locations
    )
    everywhere: dict[str, set[str]] = {task: set() for task in rolling.tasks}
    without = 0
    for present in left:
        for task, name in rolling.owners.items():
            everywhere[task].add(locations[name])
        rolling.stores = {}
        before = rolling.owners
        rolling.place(present)
        without += sum(
            locations[name] not in everywhere[task]
            for task, name in rolling.owners.items()
            if name != before[task]
        )
    assert without > 150
