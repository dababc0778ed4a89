from dataclasses import FrozenInstanceError, fields
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.task_model import TaskModel
from streamapp.tasks.partition import Partition
from tests.harness.core.job_models import models, small


def test_a_model_cannot_be_changed_and_can_stand_in_a_set() -> None:
    model = small()
    for field in fields(model):
        with pytest.raises(FrozenInstanceError):
            setattr(model, field.name, getattr(model, field.name))
    assert len({model, small()}) == 1


def test_a_task_is_found_with_its_partitions_its_changelog_and_its_owner() -> None:
    model = small()
    assert model.task("Partition 1") == TaskModel("Partition 1", (Partition("views", 1),), 1)
    assert model.owner("Partition 1") == "1"
    assert model.owner("stateless") == "0"


def test_a_task_reads_the_broadcast_partitions_besides_its_own() -> None:
    assert small().partitions("stateless") == (Partition("clicks", 7), Partition("rates", 0))


def test_a_processor_without_a_task_is_part_of_the_assignment() -> None:
    assert small().assignment() == {"0": ("Partition 0", "stateless"), "1": ("Partition 1",), "2": ()}
    assert small().tasks_of("2") == ()


@pytest.mark.parametrize("absent", ["", "Partition", "Partition 9", "zzz"])
def test_what_is_not_there_is_a_key_error(absent: str) -> None:
    model = small()
    for look_up in (model.task, model.owner, model.partitions, model.tasks_of):
        with pytest.raises(KeyError):
            look_up(absent)


@given(models())
def test_assignment_owners_and_tasks_of_a_processor_say_the_same(model: JobModel) -> None:
    by_owner = {task.name: model.owner(task.name) for task in model.tasks}
    listed = {task: processor for processor, tasks in model.assignment().items() for task in tasks}
    one_by_one = {task.name: name for name in model.processors for task in model.tasks_of(name)}
    assert by_owner == listed == one_by_one


@given(models(), st.randoms(use_true_random=False))
def test_the_order_in_which_a_model_is_given_does_not_matter(model: JobModel, random: Random) -> None:
    def shuffled(values: list[Any]) -> list[Any]:
        return random.sample(values, len(values))

    again = JobModel.of(
        version=model.version,
        run_id=model.run_id,
        application_id=model.application_id,
        tasks=[
            TaskModel(task.name, tuple(shuffled(list(task.partitions))), task.changelog)
            for task in shuffled(list(model.tasks))
        ],
        processors={
            name: shuffled(list(tasks)) for name, tasks in shuffled(list(model.assignment().items()))
        },
        broadcast=shuffled(list(model.broadcast)),
    )
    assert again == model
