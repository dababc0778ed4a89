"""The ways to form tasks: by partition, by stream partition, one task for all, or a user's own."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamapp.tasks.partition import Partition


class UserGrouper(Protocol):
    """A user's own way to form tasks.

    It is given the partitions to group and, for an app with state, the task of each partition that already
    has one. Those keep their task whatever it answers: that is its fixed-tasks form. It is not asked about
    partitions by which a stream has grown; they follow the partition that held their keys.
    """

    def __call__(
        self, previous: Mapping[Partition, str], partitions: Sequence[Partition], /
    ) -> Mapping[str, Collection[Partition]]:
        """Each partition in exactly one task."""


@dataclass(frozen=True, slots=True)
class Grouper:
    """A way to form tasks, by the name it has in `spec.grouper`; a user's own comes with its function."""

    name: str
    own: UserGrouper | None = None


BY_PARTITION = Grouper("partition")
BY_STREAM_PARTITION = Grouper("streamPartition")
SINGLE_TASK = Grouper("single")

BUILT_IN_GROUPERS = frozenset({BY_PARTITION.name, BY_STREAM_PARTITION.name, SINGLE_TASK.name})
"""The names in `spec.grouper` that are no Python."""
