from streamapp.placement.placement_reason import PlacementReason
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement

AT = {"p1": "l1", "p2": "l1", "p3": "l3", "p4": None}


def why(
    task_locality: dict[str, str | None], previous: dict[str, str], tasks: str = "abcd"
) -> dict[str, PlacementReason]:
    found = place_tasks(tasks, task_locality, AT, previous)
    assert isinstance(found, TaskPlacement)
    return {task: found.why(task) for task in sorted(found.processor_of)}


def test_a_task_with_its_processor_and_location_stayed() -> None:
    assert why({"a": "l1"}, {"a": "p1"})["a"] is PlacementReason.STAYED


def test_a_task_of_unknown_location_with_its_processor_stayed() -> None:
    assert why({}, {"a": "p4"})["a"] is PlacementReason.STAYED


def test_a_task_beside_its_processor_is_told_why() -> None:
    nobody: dict[str, str] = {}
    gone, away, full = {"a": "gone"}, {"a": "p3"}, {"a": "p1", "b": "p1"}
    assert why({"a": "l1"}, gone)["a"] is PlacementReason.SAME_LOCATION_PROCESSOR_GONE
    assert why({"a": "l1"}, away)["a"] is PlacementReason.SAME_LOCATION_PROCESSOR_AWAY
    assert why({"a": "l1", "b": "l1"}, full)["b"] is PlacementReason.SAME_LOCATION_PROCESSOR_FULL
    assert why({"a": "l1"}, nobody)["a"] is PlacementReason.SAME_LOCATION


def test_a_task_that_left_its_location_is_told_whether_it_is_gone_or_full() -> None:
    assert why({"a": "l-gone"}, {})["a"] is PlacementReason.MOVED_LOCATION_GONE
    assert why({"a": "l3", "b": "l3"}, {"a": "p3", "b": "p3"})["b"] is PlacementReason.MOVED_LOCATION_FULL


def test_a_task_of_unknown_location_is_told_what_became_of_its_processor() -> None:
    assert why({}, {"a": "gone"})["a"] is PlacementReason.MOVED_PROCESSOR_GONE
    assert why({}, {"a": "p4", "b": "p4"})["b"] is PlacementReason.MOVED_PROCESSOR_FULL


def test_a_task_can_stay_on_a_processor_that_came_back_elsewhere() -> None:
    full = why({"a": "l3", "b": "l3"}, {"a": "p3", "b": "p4"})
    assert full["b"] is PlacementReason.STAYED_AWAY
    assert why({"a": "l-gone"}, {"a": "p4"})["a"] is PlacementReason.STAYED_LOCATION_GONE


def test_a_task_of_which_nothing_is_known_is_new() -> None:
    found = why({}, {})
    assert set(found.values()) == {PlacementReason.NEW}
    assert PlacementReason.NEW.kind == "new"


def test_each_reason_is_of_one_of_five_kinds() -> None:
    assert {reason.kind for reason in PlacementReason} == {
        "stayed",
        "same location",
        "returned",
        "moved",
        "new",
    }
