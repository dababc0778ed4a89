"""The job model: an immutable, versioned map of tasks to partitions and of processors to tasks.

It says who owns what, never where anyone stands: locality changes with every restart of a pod, the model
only when the assignment does, so that a follower that holds a model can keep it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any, Self

from streamapp.jobmodel.task_model import TaskModel
from streamapp.spec.reasons import Reason
from streamapp.tasks.partition import Partition

# Partition numbers are 32 bits wide in every system; a version is held to what JSON readers keep exact.
PARTITION_LIMIT = 2**31
VERSION_LIMIT = 2**53
_SHOWN = 5

_Found = Iterator[str]


def misassignments(tasks: Collection[str], processors: Mapping[str, Collection[str]]) -> list[str]:
    """The failures of an assignment to give every task to exactly one processor."""
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


@dataclass(frozen=True, slots=True)
class JobModel:
    """One version of the assignment. Build it with `JobModel.of`, which puts everything in order.

    The owner of `tasks[i]` is `processors[owners[i]]`: in this form every task has exactly one owner, and
    equal content makes equal models, whatever order it was given in.
    """

    version: int
    run_id: str
    application_id: str
    tasks: tuple[TaskModel, ...]
    processors: tuple[str, ...]
    owners: tuple[int, ...]
    broadcast: tuple[Partition, ...] = ()  # every task has these besides its own

    def __post_init__(self) -> None:
        problems = contradictions(self)
        if problems:
            raise InvalidJobModelError(tuple(problems))

    @classmethod
    def of(
        cls,
        *,
        version: int,
        run_id: str,
        application_id: str,
        tasks: Iterable[TaskModel],
        processors: Mapping[str, Collection[str]],
        broadcast: Iterable[Partition] = (),
    ) -> Self:
        """A model from tasks and from processor -> names of its tasks, given in any order."""
        ordered = sorted((_in_order(task) for task in tasks), key=_NAME)
        problems = misassignments({task.name for task in ordered}, processors)
        if problems:
            raise InvalidJobModelError(tuple(problems))
        names = sorted(processors)
        owner = {task: number for number, name in enumerate(names) for task in processors[name]}
        return cls(
            version=version,
            run_id=run_id,
            application_id=application_id,
            tasks=tuple(ordered),
            processors=tuple(names),
            owners=tuple(owner[task.name] for task in ordered),
            broadcast=tuple(sorted(broadcast)),
        )

    def task(self, name: str) -> TaskModel:
        """The task of this name; a KeyError where there is none."""
        return self.tasks[self._row(name)]

    def owner(self, task: str) -> str:
        """The processor that runs the task; a KeyError where there is no such task."""
        return self.processors[self.owners[self._row(task)]]

    def partitions(self, task: str) -> tuple[Partition, ...]:
        """Everything the task reads: its own partitions, then those that every task has."""
        return self.task(task).partitions + self.broadcast

    def assignment(self) -> dict[str, tuple[str, ...]]:
        """Processor -> names of its tasks, for all processors in one pass, idle ones too."""
        tasks_by_processor: list[list[str]] = [[] for _ in self.processors]
        for task, owner in zip(self.tasks, self.owners, strict=True):
            tasks_by_processor[owner].append(task.name)
        return dict(zip(self.processors, map(tuple, tasks_by_processor), strict=True))

    def tasks_of(self, processor: str) -> tuple[TaskModel, ...]:
        """The tasks of one processor, by name; a KeyError where there is no such processor."""
        number = bisect_left(self.processors, processor)
        if self.processors[number : number + 1] != (processor,):
            raise KeyError(processor)
        return tuple(task for task, owner in zip(self.tasks, self.owners, strict=True) if owner == number)

    def _row(self, task: str) -> int:
        row = bisect_left(self.tasks, task, key=_NAME)
        if row == len(self.tasks) or self.tasks[row].name != task:
            raise KeyError(task)
        return row


_NAME = attrgetter("name")


def _in_order(task: TaskModel) -> TaskModel:
    partitions = tuple(sorted(task.partitions))
    return task if partitions == task.partitions else replace(task, partitions=partitions)


class InvalidJobModelError(ValueError):
    """Names everything that is wrong with a model at once, so that one look fixes it."""

    reason = Reason.INVALID_JOB_MODEL

    def __init__(self, contradictions: tuple[str, ...]) -> None:
        self.contradictions = contradictions
        super().__init__("; ".join(contradictions))


def contradictions(model: JobModel) -> list[str]:
    """Everything that a model says and must not say; nothing for a sound one."""
    names = [task.name for task in model.tasks]
    return [
        *number_problems("the version", [model.version], VERSION_LIMIT),
        *name_problems("task", names),
        *name_problems("processor", model.processors),
        *owner_problems(model.owners, len(names), len(model.processors)),
        *changelog_problems(model.tasks),
        *partition_problems(model.tasks, model.broadcast),
        *encoding_problems(
            [model.run_id, model.application_id, *names, *model.processors], model.tasks, model.broadcast
        ),
    ]
