"""What an assertion says of an object, and what it leaves open."""

from tests.harness.cluster.assertion_match import differences

APP = {
    "metadata": {"name": "views", "uid": "1"},
    "status": {
        "tasks": 4,
        "conditions": [
            {"type": "Accepted", "status": "True", "reason": "Accepted"},
            {"type": "Ready", "status": "False", "reason": "DriverStarting"},
        ],
    },
}


def test_what_is_not_mentioned_may_be_anything() -> None:
    assert differences({"status": {"tasks": 4}}, APP) == []
    assert differences({}, APP) == []


def test_entries_with_a_type_are_found_wherever_they_stand() -> None:
    assert differences({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, APP) == []


def test_each_difference_is_told_with_its_path() -> None:
    wanted = {"status": {"tasks": 8, "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    assert differences(wanted, APP, "views") == [
        "views.status.tasks: 4 instead of 8",
        "views.status.phase: nothing instead of 'Running'",
        "views.status.conditions[Ready].status: 'False' instead of 'True'",
    ]


def test_an_entry_that_is_not_there_is_a_difference() -> None:
    wanted = {"status": {"conditions": [{"type": "Degraded", "status": "False"}]}}
    assert differences(wanted, APP) == ["status.conditions[Degraded]: missing"]


def test_lists_without_names_are_compared_place_by_place() -> None:
    assert differences({"args": ["a", "b"]}, {"args": ["a", "b", "c"]}) == []
    assert differences({"args": ["a", "b"]}, {"args": ["a"]}) == ["args[1]: missing"]
    assert differences({"args": ["a"]}, {"args": "a"}) == ["args: 'a' instead of a list"]
