"""What no job model may say: the rules that every model is held to when it is made or read."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from streamapp.jobmodel.task_model import TaskModel
from streamapp.tasks.partition import Partition

# Partition numbers are 32 bits wide in every system; a version is held to what JSON readers keep exact.
PARTITION_LIMIT = 2**31
VERSION_LIMIT = 2**53
_SHOWN = 5

_Found = Iterator[str]


def misassignments(tasks: Collection[str], processors: Mapping[str, Collection[str]]) -> list[str]:
    """How an assignment fails to give every task to exactly one processor."""
    assigned = Counter(task for owned in processors.values() for task in owned)
    twice = (name for name, times in assigned.items() if times > 1)
    return [
        *_naming("tasks on no processor", set(tasks) - assigned.keys()),
        *_naming("tasks assigned but not defined", assigned.keys() - set(tasks)),
        *_naming("tasks assigned more than once", twice),
    ]


def name_problems(kind: str, names: Sequence[str]) -> _Found:
    """Names that are empty, given twice or out of order."""
    if "" in names:
        yield f"a {kind} has an empty name"
    if len(set(names)) < len(names):
        yield from _naming(f"{kind} names given more than once", _repeated(names))
    elif list(names) != sorted(names):
        yield f"{kind} names are not in order"


def owner_problems(owners: tuple[int, ...], tasks: int, processors: int) -> _Found:
    """Owners that are too few, too many or not there."""
    if len(owners) != tasks:
        yield f"{tasks} tasks have {len(owners)} owners"
    if owners and not 0 <= min(owners) <= max(owners) < processors:
        yield f"an owner is none of the {processors} processors"


def changelog_problems(tasks: tuple[TaskModel, ...]) -> _Found:
    """Changelog partitions that several tasks have, or that cannot be."""
    numbers = [task.changelog for task in tasks if task.changelog is not None]
    yield from number_problems("a changelog partition", numbers, PARTITION_LIMIT)
    if len(set(numbers)) < len(numbers):
        yield from _naming("changelog partitions given to more than one task", _repeated(numbers))


def partition_problems(tasks: tuple[TaskModel, ...], broadcast: tuple[Partition, ...]) -> _Found:
    """Partitions that are owned twice, owned and broadcast, or not in order."""
    owned = [partition for task in tasks for partition in task.partitions]
    once = set(owned)
    yield from number_problems("a partition number", [index for _, index in owned], PARTITION_LIMIT)
    yield from number_problems("a partition number", [index for _, index in broadcast], PARTITION_LIMIT)
    if not all(stream for stream, _ in once.union(broadcast)):
        yield "a partition has an empty stream name"
    if len(once) < len(owned):
        yield from _naming("partitions owned more than once", _repeated(owned))
    for task in tasks:
        if len(task.partitions) > 1 and not _ascending(task.partitions):
            yield f"the partitions of task {task.name!r} are not in order, each once"
    if not _ascending(broadcast):
        yield "the broadcast partitions are not in order, each once"
    yield from _naming("partitions both broadcast and owned", once.intersection(broadcast))


def _ascending(values: Sequence[Partition]) -> bool:
    return all(low < high for low, high in pairwise(values))


def number_problems(what: str, values: Sequence[int], limit: int) -> _Found:
    """A number outside its bounds."""
    if values and not 0 <= min(values) <= max(values) < limit:
        wrong = min(values) if min(values) < 0 else max(values)
        yield f"{what} is {wrong}, and not from 0 to {limit - 1}"


def encoding_problems(
    texts: Iterable[str], tasks: tuple[TaskModel, ...], broadcast: tuple[Partition, ...]
) -> _Found:
    """Names that no text of bytes can hold."""
    streams = {stream for task in tasks for stream, _ in task.partitions}
    streams.update(stream for stream, _ in broadcast)
    try:
        "".join([*texts, *streams]).encode()
    except UnicodeEncodeError as error:
        yield f"a name holds {error.object[error.start]!r}, which is half a character"


def _repeated(values: Iterable[Any]) -> list[Any]:
    return [value for value, times in Counter(values).items() if times > 1]


def _naming(what: str, values: Iterable[Any]) -> _Found:
    words = [str(value) for value in sorted(values)]
    if words:
        more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
        yield f"{what}: {', '.join(words[:_SHOWN])}{more}"
