"""The next offsets: by partition, whichever task read it last, but for what every task reads itself."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class ReadPositions:
    """The next record of each partition; a partition of which nothing was read yet has its start, or none."""

    of_tasks: Mapping[str, Mapping[Partition, int]]
    shared: frozenset[Partition] = frozenset()  # read by every task, each at its own pace
    starts: Mapping[Partition, int] | None = None

    def next_of(self, tasks: Mapping[str, Collection[Partition]]) -> dict[tuple[str, Partition], int]:
        """The next record by task and partition, where there is one to be named."""
        anyone = self._furthest()
        starts = self.starts or {}
        positions = {}
        for task, partitions in tasks.items():
            task_positions = self.of_tasks.get(task, {})
            for partition in partitions:
                known = task_positions if partition in self.shared else anyone
                position = known.get(partition, starts.get(partition))
                if position is not None:
                    positions[task, partition] = position
        return positions

    def done_with(self, tasks: Mapping[str, Collection[Partition]]) -> dict[Partition, int]:
        """The positions below which nobody reads any more."""
        lowest = self._furthest()
        for partition in self.shared:
            readers = [task for task, partitions in tasks.items() if partition in partitions]
            lowest[partition] = min(
                (self.of_tasks.get(task, {}).get(partition, 0) for task in readers), default=0
            )
        return lowest

    def _furthest(self) -> dict[Partition, int]:
        furthest: dict[Partition, int] = {}
        for positions in self.of_tasks.values():
            for partition, position in positions.items():
                furthest[partition] = max(position, furthest.get(partition, 0))
        return furthest
