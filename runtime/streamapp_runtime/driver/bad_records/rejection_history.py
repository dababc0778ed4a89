"""Counts of records that tasks left out of their partitions so far; their next orders count on from these."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from streamapp_runtime.lanes.protocol.rejections import RejectionCause, RejectionCount
from streamapp_runtime.lanes.protocol.task_report import TaskReport


@dataclass(slots=True)
class RejectionHistory:
    """Counts by task, of batches that were committed. A driver that starts begins with none."""

    _counts: dict[str, dict[tuple[RejectionCause, str, int], RejectionCount]] = field(default_factory=dict)

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Take the counts of tasks that committed: of what was not, records are read and counted again."""
        for report in reports:
            if report.checkpoint and report.rejections.counts:
                counts = {count.subject: count for count in report.rejections.counts}
                self._counts.setdefault(report.task, {}).update(counts)

    def of(self, task: str) -> tuple[RejectionCount, ...]:
        """The counts of a task."""
        return tuple(self._counts.get(task, {}).values())
