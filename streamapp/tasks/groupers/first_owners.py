"""Which task a grouper gives to partitions that no layout remembers."""

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat

from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers import task_names
from streamapp.tasks.groupers.grouper import BY_PARTITION, BY_STREAM_PARTITION, Grouper, UserGrouper
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

_NAMES: Mapping[str, Callable[[Partition], str]] = {
    BY_PARTITION.name: task_names.by_partition,
    BY_STREAM_PARTITION.name: task_names.by_stream_partition,
}


def first_owners(
    grouper: Grouper, partitions: Sequence[Partition], previous: Mapping[Partition, str]
) -> Mapping[Partition, str] | Refusal:
    """The task of each partition, or why the grouper's answer cannot be used."""
    if grouper.own is not None:
        return _asked(grouper.name, grouper.own, previous, partitions)
    name = _NAMES.get(grouper.name)
    if name is None:
        return _invalid(grouper.name, "is none of partition, streamPartition and single, and was not loaded")
    return {partition: name(partition) for partition in partitions}


def _asked(
    name: str, own: UserGrouper, previous: Mapping[Partition, str], partitions: Sequence[Partition]
) -> Mapping[Partition, str] | Refusal:
    # A user's code may raise or return anything; what it returns is only touched in here.
    try:
        answer = {task: tuple(given) for task, given in own(previous, partitions).items()}
        pairs = [pair for task, given in answer.items() for pair in zip(given, repeat(task), strict=False)]
        owners = dict(pairs)
    except Exception as error:
        return _invalid(name, f"raised {type(error).__name__}: {error}")
    nameless = [task for task in answer if not (isinstance(task, str) and task)]
    if nameless:
        return _invalid(name, f"named a task {nameless[0]!r}, and a task's name is a text that is not empty")
    unknown = owners.keys() - set(partitions)
    if unknown:
        return _invalid(name, f"returned {next(iter(unknown))!s}, which it was not given")
    missing = [partition for partition in partitions if partition not in owners]
    if missing:
        return _invalid(name, f"left out {missing[0]!s}")
    if len(pairs) > len(owners):
        return _invalid(name, "gave one partition to several tasks")
    return owners


def _invalid(name: str, what: str) -> Refusal:
    return Refusal(
        Reason.GROUPER_INVALID,
        name,
        f"the grouper {what}",
        "return every given partition in exactly one task",
    )
