"""The size of a batch in records: so many at most, and no more than so many bytes are thought to be."""

from collections.abc import Iterable
from dataclasses import dataclass

from streamapp_runtime.lanes.protocol.task_report import TaskReport

GUESSED_RECORD_BYTES = 256
"""Bytes of a record of which nothing was seen yet."""


@dataclass(slots=True)
class BatchBudget:
    """The size of a batch. Records are taken to be as large as those of the last batch were."""

    _size: float = GUESSED_RECORD_BYTES

    def records(self, most_records: int, most_bytes: int) -> int:
        """The number of records that the next batch may read within these bounds; one in any case."""
        return max(1, min(most_records, int(most_bytes / self._size)))

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Note how large the records of a batch were."""
        sizes = [(report.rows_in, report.bytes_in) for report in reports]
        records = sum(rows for rows, _ in sizes)
        if records:
            self._size = max(1.0, sum(size for _, size in sizes) / records)
