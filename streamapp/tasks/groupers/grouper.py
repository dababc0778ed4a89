"""The ways to form tasks: by partition, by stream partition, one task for all, or a user's own."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamapp.tasks.partition import Partition


class UserGrouper(Protocol):
    """A user's own way to form tasks.

    The grouper receives the partitions to group and, for an app with state, the existing task of each
    partition. A partition keeps its existing task whatever the grouper returns: this is the fixed-tasks form.
    New partitions of a grown stream are not passed to the grouper; each follows the partition of its keys.
    """

    def __call__(
        self, previous: Mapping[Partition, str], partitions: Sequence[Partition], /
    ) -> Mapping[str, Collection[Partition]]:
        """Each partition in exactly one task."""


@dataclass(frozen=True, slots=True)
class Grouper:
    """A way to form tasks, by its name in `spec.grouper`; a user's grouper has a function."""

    name: str
    user_function: UserGrouper | None = None


BY_PARTITION = Grouper("partition")
BY_STREAM_PARTITION = Grouper("streamPartition")
SINGLE_TASK = Grouper("single")

BUILT_IN_GROUPERS = frozenset({BY_PARTITION.name, BY_STREAM_PARTITION.name, SINGLE_TASK.name})
"""The names in `spec.grouper` that refer to no Python function."""
