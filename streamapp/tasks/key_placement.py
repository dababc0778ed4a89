"""The tasks to which the keys of a stream belong, and an app's reliance on that."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from streamapp.spec.value_types.partitioner_names import DEFAULT_PARTITIONER, PartitionerName


class KeyReliance(StrEnum):
    """The aspect of the keys of a stream's records on which results depend."""

    NONE = "none"
    VALUE = "value"  # what the key is
    PLACE = "place"  # what it is, and in which task its record is read


def folded_index(index: int, initial: int, folds: Sequence[int]) -> int:
    """The initial partition that a partition was folded to; by the remainder where no fold is recorded."""
    return index % initial if index < initial or not folds else folds[index - initial]


@dataclass(frozen=True, slots=True)
class KeyPlacement:
    """The task of each key of a stream: that of the initial partition that the key's hash names.

    A growth moves keys to other partitions of their tasks, so a record is where its key belongs before and
    after a growth alike if its partition goes back to an initial partition of the same task.
    """

    count: int  # the initial partitions: those when state began
    folds: tuple[int, ...] = ()  # initial indexes of later partitions, where they are not index mod count
    tasks: tuple[int, ...] = ()  # a number for the task of each initial partition, NO_TASK where it has none
    partitioner: PartitionerName = DEFAULT_PARTITIONER

    def initial_index(self, index: int) -> int:
        """The initial partition that a partition goes back to."""
        return folded_index(index, self.count, self.folds)


NO_TASK = -1
"""In place of the number of a task: each task reads that partition."""
