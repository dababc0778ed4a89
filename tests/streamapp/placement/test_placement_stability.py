"""The answer depends on what is asked and on nothing else, and what need not move stays."""

from random import Random
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.placement.locations.task_locality import TaskLocality
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from tests.harness.core.placement_worlds import World, worlds

Value = TypeVar("Value")


def placed(
    tasks: list[str], at: dict[str, str | None], before: dict[str, str] | None = None
) -> TaskPlacement:
    """A placement of tasks whose stores are where their previous processors are now."""
    before = before or {}
    locations = {task: at.get(name) for task, name in before.items()}
    found = place_tasks(tasks, locations, at, before)
    assert isinstance(found, TaskPlacement)
    return found


@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_tasks_and_maps_changes_nothing(world: World, order: Random) -> None:
    def mixed(mapping: dict[str, Value]) -> dict[str, Value]:
        return dict(order.sample(list(mapping.items()), len(mapping)))

    tasks = tuple(order.sample(world.tasks, len(world.tasks)))
    other = World(tasks, mixed(world.task_locality), mixed(world.processor_locality), mixed(world.previous))
    assert other.placed() == world.placed()


@given(worlds(most_tasks=40))
def test_placed_again_from_its_own_result_nothing_moves(world: World) -> None:
    found = world.placed()
    after = {task: world.processor_locality[name] for task, name in found.processor_of.items()}
    again = World(world.tasks, after, world.processor_locality, dict(found.processor_of)).placed()
    assert again.processor_of == found.processor_of
    assert (again.location_moves, again.processor_moves) == (0, 0)


@given(worlds())
def test_what_is_recorded_of_other_tasks_and_gone_processors_changes_nothing(world: World) -> None:
    more = World(
        world.tasks,
        {**world.task_locality, "stranger": "l0"},
        world.processor_locality,
        {**world.previous, "stranger": "p0"},
    )
    assert more.placed().processor_of == world.placed().processor_of


def test_a_task_named_twice_is_placed_once() -> None:
    found = placed(["a", "b", "a"], {"p1": "l1", "p2": "l2"})
    assert found.processor_of == {"a": "p1", "b": "p2"}


def test_nothing_flips_between_two_processors_when_a_third_joins() -> None:
    at: dict[str, str | None] = {"p1": "l1", "p2": "l2"}
    before = placed([f"t{n}" for n in range(6)], at)
    after = placed(list(before.processor_of), {**at, "p3": "l3"}, dict(before.processor_of))
    moved = [task for task, name in after.processor_of.items() if name != before.processor_of[task]]
    assert {after.processor_of[task] for task in moved} == {"p3"}
    assert len(moved) == 2


def test_with_more_processors_than_tasks_those_that_held_tasks_work_on_and_the_last_by_name_idle() -> None:
    at: dict[str, str | None] = {f"p{n}": f"l{n}" for n in range(6)}
    found = placed(["a", "b", "c"], at, {"a": "p5", "b": "p4", "c": "p4"})
    assert found.idle == ("p1", "p2", "p3")
    assert found.loads == {"p0": 1, "p1": 0, "p2": 0, "p3": 0, "p4": 1, "p5": 1}


def test_without_any_task_there_is_no_placement() -> None:
    found = place_tasks([], {}, {"p1": "l1"})
    assert isinstance(found, Refusal)
    assert found.reason is Reason.NO_TASKS


@pytest.mark.parametrize("processors", [99, 101, 120, 80])
def test_a_change_of_processors_moves_no_task_more_than_it_must(processors: int) -> None:
    tasks = [f"t{n:05d}" for n in range(9_970)]
    before = placed(tasks, {f"p{n:03d}": f"l{n}" for n in range(100)})
    now: dict[str, str | None] = {f"p{n:03d}": f"l{n}" for n in range(processors)}
    base, extras = divmod(len(tasks), processors)
    held = [load if name in now else 0 for name, load in before.loads.items()]
    kept = sum(min(load, base) for load in held)
    kept += min(extras, sum(load > base for load in held))
    after = place_tasks(
        tasks, {t: f"l{int(p[1:])}" for t, p in before.processor_of.items()}, now, before.processor_of
    )
    assert isinstance(after, TaskPlacement)
    assert after.location_moves == after.processor_moves == len(tasks) - kept


def test_a_processor_that_is_full_as_it_is_gets_no_extra_that_another_could_take() -> None:
    before = {"a": "p1", "b": "p1", "c": "p2", "d": "p2", "e": "p3", "f": "p4", "g": "p4"}
    found = placed(list(before), {"p1": "l1", "p2": "l2", "p3": "l3"}, before)
    assert found.tasks_of() == {"p1": ("a", "b"), "p2": ("c", "d"), "p3": ("e", "f", "g")}


def test_locality_of_another_run_is_none() -> None:
    remembered = TaskLocality("run-1", {"a": "l2"}, {"a": "p2"})
    at = {"p1": "l1", "p2": "l2"}
    for run_id, owner in {"run-1": "p2", "run-2": "p1"}.items():
        counts = remembered.within(run_id)
        found = place_tasks(["a"], counts.locations, at, counts.processors)
        assert isinstance(found, TaskPlacement)
        assert found.processor_of == {"a": owner}


def test_two_unknown_locations_are_not_the_same_place() -> None:
    found = place_tasks(["a", "b"], {"a": None, "b": None}, {"p1": None, "p2": None}, {"a": "p2"})
    assert isinstance(found, TaskPlacement)
    assert found.on_location == 0
    assert found.processor_of == {"a": "p2", "b": "p1"}
