"""The tasks that a grouper assigns to partitions without a remembered owner."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers import task_names
from streamapp.tasks.groupers.grouper import BY_PARTITION, BY_STREAM_PARTITION, Grouper, UserGrouper
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.user_calls import Complaint, answer_of, shown

LONGEST_TASK_NAME: Final = 200
"""Names of tasks are in messages, models and checkpoints."""

_TASK_NAMES: Mapping[str, Callable[[Partition], str]] = {
    BY_PARTITION.name: task_names.by_partition,
    BY_STREAM_PARTITION.name: task_names.by_stream_partition,
}


def first_owners(
    grouper: Grouper, partitions: Sequence[Partition], previous: Mapping[Partition, str]
) -> Mapping[Partition, str] | Refusal:
    """The task of each partition, or why the grouper's answer cannot be used."""
    if grouper.user_function is not None:
        return _owners_by_user_grouper(grouper.name, grouper.user_function, previous, partitions)
    task_name = _TASK_NAMES.get(grouper.name)
    if task_name is None:
        return _invalid(grouper.name, "is none of partition, streamPartition and single, and was not loaded")
    return {partition: task_name(partition) for partition in partitions}


def _owners_by_user_grouper(
    name: str, user_grouper: UserGrouper, previous: Mapping[Partition, str], partitions: Sequence[Partition]
) -> Mapping[Partition, str] | Refusal:
    owners = answer_of(lambda: _checked_owners(user_grouper(dict(previous), tuple(partitions)), partitions))
    return _invalid(name, owners.text) if isinstance(owners, Complaint) else owners


def _checked_owners(answer: object, partitions: Sequence[Partition]) -> dict[Partition, str] | Complaint:
    """The task of each partition by a grouper's answer, which may be anything."""
    if not isinstance(answer, Mapping):
        return Complaint(f"returned {shown(answer)}, which is no mapping of tasks to partitions")
    owners: dict[Partition, str] = {}
    known_partitions = set(partitions)
    for task, task_partitions in answer.items():
        if complaint := _task_complaint(task, task_partitions):
            return complaint
        for partition in task_partitions:
            if partition not in known_partitions:
                return Complaint(f"returned {_partition_text(partition)}, which it was not given")
            if partition in owners:
                return Complaint(f"gave {partition!s} to {owners[partition]} and once more to {task}")
            owners[partition] = task
    missing = next((partition for partition in partitions if partition not in owners), None)
    return owners if missing is None else Complaint(f"left out {missing!s}")


def _task_complaint(task: object, task_partitions: object) -> Complaint | None:
    if not (isinstance(task, str) and task):
        return Complaint(f"named a task {shown(task)}, and a task's name is a text that is not empty")
    if len(task) > LONGEST_TASK_NAME:
        return Complaint(f"named a task with {len(task):,} characters, and may use {LONGEST_TASK_NAME}")
    if isinstance(task_partitions, str) or not isinstance(task_partitions, Iterable):
        return Complaint(f"gave task {task} {shown(task_partitions)}, which is no list of partitions")
    return None


def _partition_text(partition: object) -> str:
    return str(partition) if isinstance(partition, Partition) else shown(partition)


def _invalid(name: str, complaint: str) -> Refusal:
    return Refusal(
        Reason.GROUPER_INVALID,
        name,
        f"the grouper {complaint}",
        "return every given partition in exactly one task",
    )
