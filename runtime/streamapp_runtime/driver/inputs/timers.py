"""The timers that wake an idle driver: watermarks to be written, partitions that fall silent; and the end."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from streamapp_runtime.lanes.protocol.task_report import TaskReport


@dataclass(slots=True)
class Timers:
    """The timers of each task as it reported them last. Times are milliseconds."""

    _due: dict[str, int] = field(default_factory=dict)
    _idle_at: dict[str, int] = field(default_factory=dict)
    _ended: set[str] = field(default_factory=set)
    task_watermarks: dict[str, Mapping[str, int]] = field(default_factory=dict)  # of its streams, by task

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Take what tasks report after a batch."""
        for report in reports:
            self._due.pop(report.task, None)
            self._idle_at.pop(report.task, None)
            self._ended.discard(report.task)
            time = report.time
            if time.due is not None:
                self._due[report.task] = time.due
            if time.idle_at is not None:
                self._idle_at[report.task] = time.idle_at
            if time.watermarks:
                self.task_watermarks[report.task] = time.watermarks
            if time.ended:
                self._ended.add(report.task)

    def ring(self, now: int, busy: Collection[str] = ()) -> bool:
        """True if a batch is due although nothing has come; not for tasks that are at one."""
        times = (*self._due.items(), *self._idle_at.items())
        return any(at <= now and task not in busy for task, at in times)

    @property
    def next_ring(self) -> int | None:
        """The time at which the first batch is due although nothing comes."""
        return min((*self._due.values(), *self._idle_at.values()), default=None)

    @property
    def pending(self) -> bool:
        """True if a watermark waits to be written."""
        return bool(self._due)

    @property
    def next_due(self) -> int | None:
        """The time at which the first of them is due."""
        return min(self._due.values(), default=None)

    def all_ended(self, tasks: Collection[str]) -> bool:
        """True if nothing will come to any of the tasks."""
        return self._ended.issuperset(tasks)
