"""Who runs the tasks of processors that are lost, given up and back; time and executors are made up."""

from collections.abc import Collection, Mapping

from hypothesis import given
from hypothesis import strategies as st

from streamapp.placement.placement_reason import PlacementReason
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.executors.lane_assignment import (
    DECLINED_SECONDS,
    MOST_RESTORED_ENTRIES,
    LaneAssignment,
    Lanes,
    processor_by_task,
)

DELAY = 30.0
WHOLE: Lanes = {"a": ("0", "3"), "b": ("1", "4"), "c": ("2", "5")}
TASKS = [str(number) for number in range(6)]


class World:
    """Processors at places, and time."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.now = 0.0
        self.places = places
        self.stores: dict[str, dict[str, int]] = {task: {} for task in TASKS}
        self.restored = 0  # changelog entries
        self.assignment = LaneAssignment(WHOLE, self.placed, lambda: DELAY, lambda: self.now)

    def placed(self, processors: Collection[str], previous: Mapping[str, str]) -> TaskPlacement | Refusal:
        state = {task: self.places[owner] for task, owner in previous.items()}
        locations = {name: self.places[name] for name in processors}
        return place_tasks(TASKS, state, locations, previous, stores=self.stores)

    def after(self, seconds: float, present: Collection[str]) -> Lanes:
        self.now += seconds
        return self.assignment.lanes(present)

    def write(self, entries: int) -> None:
        """Let all tasks that run write so many changelog entries, once their stores are restored."""
        for task, name in processor_by_task(self.assignment.assigned).items():
            at, furthest = self.stores[task], max(self.stores[task].values(), default=0)
            self.restored += furthest - at.get(self.places[name], 0)
            at[self.places[name]] = furthest + entries


def one_machine() -> World:
    return World(dict.fromkeys("abc", "here"))


def three_machines() -> World:
    return World({name: f"node-{name}" for name in "abc"})


def test_while_all_are_there_the_model_is_as_it_is() -> None:
    world = one_machine()
    assert world.after(0, "abc") == WHOLE
    assert world.assignment.complete


def test_tasks_that_go_to_other_processors_have_a_reason_and_those_that_wait_keep_theirs() -> None:
    world = three_machines()
    world.after(0, "ab")
    assert world.assignment.reasons == {}
    world.after(DELAY, "ab")
    reasons = world.assignment.reasons
    assert {task for task, reason in reasons.items() if reason is PlacementReason.STAYED} == set("0314")
    assert {reasons[task] for task in "25"} == {PlacementReason.MOVED_LOCATION_GONE}


def test_the_tasks_of_a_processor_that_is_lost_wait_while_the_others_go_on() -> None:
    world = one_machine()
    assert world.after(0, "ac") == {"a": WHOLE["a"], "c": WHOLE["c"]}
    assert world.after(DELAY - 1, "ac") == {"a": WHOLE["a"], "c": WHOLE["c"]}
    assert world.assignment.missing == ("b",)


def test_a_processor_that_comes_back_in_time_has_its_tasks() -> None:
    world = one_machine()
    world.after(0, "ac")
    assert world.after(DELAY - 1, "abc") == WHOLE
    assert world.assignment.moved() == {}


def test_after_the_delay_its_tasks_move_and_no_others() -> None:
    world = one_machine()
    world.after(0, "ac")
    lanes = world.after(DELAY, "ac")
    assert sorted(processor_by_task(lanes)) == TASKS
    assert set(WHOLE["a"]) < set(lanes["a"])
    assert set(WHOLE["c"]) < set(lanes["c"])
    assert world.assignment.moved().keys() == set(WHOLE["b"])


def test_each_processor_is_waited_for_by_itself() -> None:
    world = one_machine()
    world.after(0, "ac")
    world.after(DELAY - 1, "a")
    lanes = world.after(1, "a")
    assert world.assignment.given_up == {"b"}
    assert world.assignment.missing == ("c",)
    assert set(WHOLE["c"]).isdisjoint(processor_by_task(lanes))


def test_where_all_processors_share_a_place_they_move_back() -> None:
    world = one_machine()
    world.after(0, "ac")
    world.after(DELAY, "ac")
    assert sorted(map(len, world.after(1, "abc").values())) == [2, 2, 2]
    assert world.assignment.complete


def without_b(entries: int) -> tuple[World, Lanes]:
    """Tasks have so many entries; a processor was given up, and its disk is lost."""
    world = three_machines()
    world.after(0, "abc")
    world.write(entries)
    world.after(0, "ac")
    moved = world.after(DELAY, "ac")
    world.write(0)
    for stores in world.stores.values():
        stores.pop("node-b", None)
    return world, moved


def test_where_much_would_have_to_be_restored_they_stay() -> None:
    world, moved = without_b(MOST_RESTORED_ENTRIES + 1)
    assert world.after(1, "abc") == moved
    assert world.assignment.given_up == {"b"}


def test_where_little_would_have_to_be_restored_they_move_back() -> None:
    world, moved = without_b(MOST_RESTORED_ENTRIES)
    lanes = world.after(1, "abc")
    before, after = processor_by_task(moved), processor_by_task(lanes)
    assert sorted(map(len, lanes.values())) == [2, 2, 2]
    assert {task for task in TASKS if before[task] != after[task]} == set(lanes["b"])
    assert world.assignment.complete


def test_where_it_is_not_known_how_much_they_stay_until_it_is() -> None:
    world, moved = without_b(10)
    known, world.stores = world.stores, {task: {} for task in TASKS}
    assert world.after(1, "abc") == moved
    world.stores = known
    assert world.after(DECLINED_SECONDS - 1, "abc") == moved
    assert sorted(map(len, world.after(1, "abc").values())) == [2, 2, 2]


def test_tasks_move_back_to_a_processor_whose_disk_still_has_their_stores() -> None:
    world = three_machines()
    world.after(0, "abc")
    world.write(100)
    world.after(0, "ac")
    world.after(DELAY, "ac")
    world.write(5)
    assert world.restored == 200
    assert world.after(1, "abc") == WHOLE
    assert world.assignment.complete
    world.write(5)
    assert world.restored == 200 + 2 * 5


def test_a_processor_that_came_back_without_stores_may_come_back_with_them_another_time() -> None:
    world = three_machines()
    world.after(0, "abc")
    world.write(MOST_RESTORED_ENTRIES + 1)
    left = {task: world.stores[task].pop("node-b") for task in WHOLE["b"]}
    world.after(0, "ac")
    moved = world.after(DELAY, "ac")
    assert world.after(1, "abc") == moved
    assert world.after(1, "abc") == moved
    world.after(1, "ac")
    for task, position in left.items():
        world.stores[task]["node-b"] = position
    assert world.after(1, "abc") == WHOLE


def test_a_processor_that_is_back_without_stores_takes_the_tasks_of_the_next_that_is_lost() -> None:
    world = three_machines()
    world.after(0, "ac")
    world.after(DELAY, "ac")
    world.after(1, "abc")
    before = world.assignment.assigned["a"]
    world.after(1, "bc")
    lanes = world.after(DELAY, "bc")
    assert lanes["b"] == before
    assert world.assignment.given_up == {"a"}


def test_processors_that_leave_and_come_back_one_after_the_other_leave_all_as_it_was() -> None:
    world = three_machines()
    world.after(0, "abc")
    world.write(1_000)
    for name in "abc":
        others = set("abc") - {name}
        world.after(0, others)
        world.after(DELAY, others)
        world.write(10)
        world.after(1, "abc")
        world.write(10)
        assert world.assignment.complete
    assert world.after(0, "abc") == WHOLE
    out = sum(2 * (1_000 + 20 * number) for number in range(3))  # two tasks each time, all of their stores
    assert world.restored <= out + 3 * 2 * 10  # and what they wrote while they were away


presences = st.lists(st.tuples(st.floats(0, 40), st.sets(st.sampled_from("abc"), min_size=1)), max_size=12)


@given(presences, st.booleans())
def test_whatever_comes_and_goes_no_task_is_in_two_lanes_and_none_is_with_who_is_away(
    history: list[tuple[float, set[str]]], together: bool
) -> None:
    world = one_machine() if together else three_machines()
    for seconds, present in history:
        lanes = world.after(seconds, present)
        assert lanes.keys() <= present
        tasks = [task for mine in lanes.values() for task in mine]
        assert len(tasks) == len(set(tasks))
        waiting = {task for name in world.assignment.missing for task in world.assignment.assigned[name]}
        assert set(tasks) | waiting == set(TASKS)


@given(presences)
def test_once_all_are_there_on_one_machine_every_task_runs_and_loads_are_balanced(
    history: list[tuple[float, set[str]]],
) -> None:
    world = one_machine()
    for seconds, present in history:
        world.after(seconds, present)
    lanes = world.after(1, "abc")
    assert sorted(processor_by_task(lanes)) == TASKS
    assert sorted(map(len, lanes.values())) == [2, 2, 2]
