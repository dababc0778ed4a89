"""No balanced assignment keeps more tasks on their location or, of those that keep as many, on processors."""

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal
from tests.harness.core.placement_worlds import World, worlds
from tests.harness.oracles.locality_oracle import best_by_matching, best_of_all, dealt


def counted(world: World, found: TaskPlacement) -> tuple[int, int]:
    """Both counts from the map alone; every task is on one of the processors."""
    owner = found.processor_of
    assert sorted(owner) == sorted(world.tasks)
    assert set(owner.values()) <= set(world.processor_locality)
    on_location = sum(
        bool(world.task_locality.get(task)) and world.task_locality[task] == world.processor_locality[name]
        for task, name in owner.items()
    )
    return on_location, sum(world.previous.get(task) == name for task, name in owner.items())


def closed_form(world: World) -> int:
    tasks_at = Counter(world.task_locality.get(task) for task in world.tasks)
    processors_at = Counter(world.processor_locality.values())
    base, extras = divmod(len(world.tasks), len(world.processor_locality))
    live = [(tasks_at[at], count) for at, count in processors_at.items() if at]
    return sum(min(n, base * k) for n, k in live) + min(
        extras, sum(min(k, max(0, n - base * k)) for n, k in live)
    )


# One location competes for the only extras with two that a task away from home ties together.
CONTEST = World(
    tasks=("t0", "t1", "t2", "t3", "t4", "t5", "t6"),
    task_locality={"t0": "l0", "t1": "l2", "t2": "l2", "t3": "l1", "t4": "l0", "t5": "l1"},
    processor_locality={"p0": "l1", "p1": "l0", "p2": "l2", "p3": "l2", "p4": "l0"},
    previous={"t1": "p3", "t2": "p3", "t3": "p0", "t4": "p0", "t5": "p0", "t6": "gone"},
)


@given(worlds())
@example(CONTEST)
def test_both_counts_are_those_of_the_best_matching_of_tasks_to_slots(world: World) -> None:
    found = world.placed()
    base, extras = divmod(len(world.tasks), len(world.processor_locality))
    names = frozenset(world.processor_locality)
    best = best_by_matching(world, dict.fromkeys(names, base), names, extras)
    assert counted(world, found) == best == (found.on_location, found.on_processor)


@given(worlds(most_tasks=6, most_processors=4))
def test_trying_every_balanced_assignment_finds_none_better(world: World) -> None:
    assert counted(world, world.placed()) == best_of_all(world)


@given(worlds(most_tasks=400, most_processors=40))
def test_the_closed_form_is_reached_at_any_size(world: World) -> None:
    found = world.placed()
    assert counted(world, found)[0] == closed_form(world) == found.most_on_location
    assert found.optimal


@given(worlds(most_tasks=60, most_processors=12))
def test_loads_differ_by_one_at_most(world: World) -> None:
    found = world.placed()
    loads = Counter(found.processor_of.values())
    assert {name: loads[name] for name in world.processor_locality} == found.loads
    assert max(found.loads.values()) - min(found.loads.values()) <= 1


@given(worlds(), st.data())
def test_with_capacities_and_limits_both_counts_are_still_the_best(world: World, data: st.DataObject) -> None:
    names = sorted(world.processor_locality)
    capacity = data.draw(st.dictionaries(st.sampled_from(names), st.integers(0, 4)))
    limit = data.draw(st.dictionaries(st.sampled_from(names), st.integers(0, 6)))
    found = place_tasks(
        world.tasks,
        world.task_locality,
        world.processor_locality,
        world.previous,
        capacity=capacity,
        limit=limit,
    )
    weight = {name: capacity.get(name, 1) for name in names}
    room = sum(limit.get(name, len(world.tasks)) for name in names if weight[name])
    if room < len(world.tasks):
        assert isinstance(found, Refusal)
        return
    assert isinstance(found, TaskPlacement)
    base, eligible, extras = dealt(len(world.tasks), weight, limit)
    assert counted(world, found) == best_by_matching(world, base, eligible, extras)
    assert found.optimal
    assert all(base[name] <= load <= base[name] + (name in eligible) for name, load in found.loads.items())
