"""How many records a batch is given: so many at most, and no more than so many bytes are thought to be."""

from collections.abc import Iterable
from dataclasses import dataclass

from streamapp_runtime.lanes.protocol.task_report import TaskReport

GUESSED_RECORD_BYTES = 256
"""Bytes of a record of which nothing was seen yet."""


@dataclass(slots=True)
class BatchBudget:
    """The bounds of a batch. Records are taken to be as large as those of the last batch were."""

    rows: int
    bytes: int
    _size: float = GUESSED_RECORD_BYTES

    def budget(self) -> int:
        """How many records the next batch may read; one in any case."""
        return max(1, min(self.rows, int(self.bytes / self._size)))

    def heard(self, reports: Iterable[TaskReport]) -> None:
        """Note how large the records of a batch were."""
        told = [(report.rows_in, report.bytes_in) for report in reports]
        rows = sum(rows for rows, _ in told)
        if rows:
            self._size = max(1.0, sum(size for _, size in told) / rows)
