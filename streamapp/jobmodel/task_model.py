"""The partitions that a task owns, of streams and of the changelog, whoever runs the task."""

from dataclasses import dataclass

from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class TaskModel:
    """One task: its name is the address of its state, its changelog partition is its own for ever.

    Broadcast partitions are not listed here: every task has them, and the job model holds them once.
    """

    name: str
    partitions: tuple[Partition, ...]
    changelog: int | None = None
