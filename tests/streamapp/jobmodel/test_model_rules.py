from dataclasses import replace
from typing import Any

import pytest

from streamapp.jobmodel.job_model import InvalidJobModelError, JobModel
from streamapp.jobmodel.task_model import TaskModel
from streamapp.spec.reasons import Reason
from streamapp.tasks.partition import Partition
from tests.harness.core.job_models import small

VIEWS = [Partition("views", number) for number in range(3)]


def made(**changes: Any) -> JobModel:
    whole: dict[str, Any] = {
        "version": 0,
        "run_id": "run-1",
        "application_id": "shop",
        "tasks": [TaskModel("a", (VIEWS[0],), 0), TaskModel("b", (VIEWS[1],), 1)],
        "processors": {"0": ["a"], "1": ["b"]},
    }
    return JobModel.of(**whole | changes)


def refusal(**changes: Any) -> str:
    with pytest.raises(InvalidJobModelError) as caught:
        made(**changes)
    assert caught.value.reason is Reason.INVALID_JOB_MODEL
    return str(caught.value)


def test_a_task_on_no_processor_is_refused() -> None:
    assert refusal(processors={"0": ["a"]}) == "tasks on no processor: b"


def test_a_task_on_two_processors_is_refused() -> None:
    assert refusal(processors={"0": ["a"], "1": ["a", "b"]}) == "tasks assigned more than once: a"


def test_a_task_that_is_assigned_but_not_defined_is_refused() -> None:
    assert refusal(processors={"0": ["a", "b", "c"]}) == "tasks assigned but not defined: c"


def test_a_partition_of_two_tasks_is_refused() -> None:
    tasks = [TaskModel("a", (VIEWS[0],)), TaskModel("b", (VIEWS[0], VIEWS[1]))]
    assert refusal(tasks=tasks) == "partitions owned more than once: views#0"


def test_a_partition_that_is_broadcast_and_owned_is_refused() -> None:
    assert refusal(broadcast=[VIEWS[1]]) == "partitions both broadcast and owned: views#1"


def test_a_partition_given_twice_to_one_task_is_refused() -> None:
    tasks = [TaskModel("a", (VIEWS[0], VIEWS[0])), TaskModel("b", ())]
    assert "the partitions of task 'a' are not in order, each once" in refusal(tasks=tasks)


def test_a_changelog_partition_of_two_tasks_is_refused() -> None:
    tasks = [TaskModel("a", (), 4), TaskModel("b", (), 4)]
    assert refusal(tasks=tasks) == "changelog partitions given to more than one task: 4"


def test_two_tasks_of_one_name_are_refused() -> None:
    assert "task names given more than once: a" in refusal(
        tasks=[TaskModel("a", ()), TaskModel("a", ())], processors={"0": ["a"]}
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": -1}, "the version is -1"),
        ({"version": 2**53}, "the version is 9007199254740992"),
        (
            {"tasks": [TaskModel("a", (Partition("views", 2**31),)), TaskModel("b", ())]},
            "a partition number is",
        ),
        ({"broadcast": [Partition("rates", -1)]}, "a partition number is -1"),
        ({"tasks": [TaskModel("a", (), -1), TaskModel("b", ())]}, "a changelog partition is -1"),
        ({"tasks": [TaskModel("", ())], "processors": {"0": [""]}}, "a task has an empty name"),
        ({"processors": {"": ["a", "b"]}}, "a processor has an empty name"),
        ({"broadcast": [Partition("", 0)]}, "a partition has an empty stream name"),
        ({"run_id": "\ud800"}, "half a character"),
        ({"broadcast": [Partition("\ud800", 0)]}, "half a character"),
    ],
)
def test_numbers_and_names_that_no_form_could_hold_are_refused(changes: dict[str, Any], message: str) -> None:
    assert message in refusal(**changes)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    tasks = [TaskModel("a", (VIEWS[0],), 4), TaskModel("b", (VIEWS[0],), 4)]
    assert refusal(version=-1, tasks=tasks, broadcast=[VIEWS[0]]).split("; ") == [
        "the version is -1, and not from 0 to 9007199254740991",
        "changelog partitions given to more than one task: 4",
        "partitions owned more than once: views#0",
        "partitions both broadcast and owned: views#0",
    ]


def test_of_many_names_only_the_first_few_are_listed() -> None:
    tasks = [TaskModel(f"t{number}", ()) for number in range(9)]
    assert (
        refusal(tasks=tasks, processors={"0": []}) == "tasks on no processor: t0, t1, t2, t3, t4 and 4 more"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"owners": (0,)}, "3 tasks have 1 owners"),
        ({"owners": (0, 1, 3)}, "an owner is none of the 3 processors"),
        ({"owners": (0, 1, -1)}, "an owner is none of the 3 processors"),
        ({"tasks": small().tasks[::-1]}, "task names are not in order"),
        ({"processors": ("1", "0", "2")}, "processor names are not in order"),
        ({"broadcast": (VIEWS[2], VIEWS[2])}, "the broadcast partitions are not in order, each once"),
    ],
)
def test_a_model_put_together_in_disorder_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidJobModelError, match=message):
        replace(small(), **changes)
