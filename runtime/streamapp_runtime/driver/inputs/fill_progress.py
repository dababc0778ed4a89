"""The progress of tables that side inputs fill, as their stores last said, and how far they have to be."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from streamapp.tasks.partition import Partition

ContainedPositions = Mapping[str, Mapping[Partition, int]]
"""By task: the next record of each partition that fills a table."""


@dataclass(frozen=True, slots=True)
class FillProgress:
    """The progress that is known between two batches."""

    ends: Mapping[Partition, int]  # at the start, of what is waited for
    contained: ContainedPositions
    paused: Mapping[str, Collection[str]] = field(default_factory=dict)
    """By task: partitions that are ahead of a version, and side inputs of which nothing is seen yet."""

    def paused_of(self, task: str) -> Collection[str]:
        """The partitions and side inputs of a task's tables that are not read on."""
        return self.paused.get(task, ())

    def after(self, task: str, reached: Mapping[Partition, int]) -> "FillProgress":
        """The same once a task's stores have taken more."""
        contained = {**self.contained, task: {**self.contained.get(task, {}), **reached}}
        return FillProgress(self.ends, contained, self.paused)
