"""Rows of one edge within one batch: what operations take and give, columns by position."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class Slice:
    """Equally long arrays. A tombstone has a key and nulls for columns."""

    task: pa.Array  # int32, index of the task in the lane's order
    key: pa.Array  # binary
    time: pa.Array  # int64, milliseconds
    tombstone: pa.Array  # bool
    source: pa.Array  # int32, index of the range it was read from; -1 where there is none
    offset: pa.Array  # int64, within that range
    columns: tuple[pa.Array, ...]

    def __len__(self) -> int:
        return len(self.task)

    def filter(self, mask: pa.Array) -> "Slice":
        """The rows for which the mask is true."""
        return self._each(lambda array: array.filter(mask))

    def take(self, indices: pa.Array) -> "Slice":
        """The rows at these places, in that order."""
        return self._each(lambda array: array.take(indices))

    def slice(self, start: int, length: int | None = None) -> "Slice":
        """The rows from a place on, so many of them or all."""
        return self._each(lambda array: array.slice(start, length))

    def choose(self, positions: Sequence[int]) -> "Slice":
        """The same rows with these of their columns."""
        return replace(self, columns=tuple(self.columns[position] for position in positions))

    def with_columns(self, columns: Iterable[pa.Array]) -> "Slice":
        """The same rows with other columns."""
        return replace(self, columns=tuple(columns))

    def of_task(self, task: int) -> "Slice":
        """The rows of one task."""
        return self.filter(pc.equal(self.task, task))

    def tasks(self) -> list[int]:
        """The tasks that have rows, in order."""
        task_numbers: list[int] = sorted(pc.unique(self.task).to_pylist())
        return task_numbers

    def _each(self, change: Callable[[pa.Array], pa.Array]) -> "Slice":
        fields = (self.task, self.key, self.time, self.tombstone, self.source, self.offset)
        task, key, time, tombstone, source, offset = (change(array) for array in fields)
        return Slice(task, key, time, tombstone, source, offset, tuple(change(a) for a in self.columns))


def blank_slice(count: int, task: int = 0) -> Slice:
    """Rows of a task without key, time, origin or columns."""
    return Slice(
        pa.array(np.full(count, task, np.int32)),
        pa.nulls(count, pa.binary()),
        pa.nulls(count, pa.int64()),
        pa.array(np.zeros(count, bool)),
        pa.array(np.full(count, -1, np.int32)),
        pa.array(np.full(count, -1, np.int64)),
        (),
    )
