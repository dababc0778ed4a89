"""The tasks that a grouper assigns to partitions without a remembered owner."""

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat

from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers import task_names
from streamapp.tasks.groupers.grouper import BY_PARTITION, BY_STREAM_PARTITION, Grouper, UserGrouper
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

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
    # A user's code may raise or return anything; its result is only touched inside this block.
    try:
        partitions_by_task = {
            task: tuple(task_partitions)
            for task, task_partitions in user_grouper(previous, partitions).items()
        }
        partition_tasks = [
            pair
            for task, task_partitions in partitions_by_task.items()
            for pair in zip(task_partitions, repeat(task), strict=False)
        ]
        owners = dict(partition_tasks)
    except Exception as error:
        return _invalid(name, f"raised {type(error).__name__}: {error}")
    invalid_names = [task for task in partitions_by_task if not (isinstance(task, str) and task)]
    if invalid_names:
        return _invalid(
            name, f"named a task {invalid_names[0]!r}, and a task's name is a text that is not empty"
        )
    unknown = owners.keys() - set(partitions)
    if unknown:
        return _invalid(name, f"returned {next(iter(unknown))!s}, which it was not given")
    missing = [partition for partition in partitions if partition not in owners]
    if missing:
        return _invalid(name, f"left out {missing[0]!s}")
    if len(partition_tasks) > len(owners):
        return _invalid(name, "gave one partition to several tasks")
    return owners


def _invalid(name: str, complaint: str) -> Refusal:
    return Refusal(
        Reason.GROUPER_INVALID,
        name,
        f"the grouper {complaint}",
        "return every given partition in exactly one task",
    )
