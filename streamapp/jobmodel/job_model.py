"""The job model: an immutable, versioned map of tasks to partitions and of processors to tasks.

It says who owns what, never where anyone stands: locality changes with every restart of a pod, the model
only when the assignment does, so that a follower that holds a model can keep it.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Self

from streamapp.jobmodel.model_rules import (
    VERSION_LIMIT,
    changelog_problems,
    encoding_problems,
    misassignments,
    name_problems,
    number_problems,
    owner_problems,
    partition_problems,
)
from streamapp.jobmodel.task_model import TaskModel
from streamapp.spec.reasons import Reason
from streamapp.tasks.partition import Partition


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
