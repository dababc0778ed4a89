"""Whether workers that were lost wanted more memory than there is, by what the kernel counts beside them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from streamapp_runtime.lanes.protocol.task_report import TaskReport


@dataclass(slots=True)
class MemoryKills:
    """The kernel's counts as workers read them when they start, and whether one has risen of late."""

    recent: bool = False
    _counts: dict[str, int] = field(default_factory=dict)  # by location

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Take what workers read. A count that is lower is of a container that was made anew."""
        for report in reports:
            if report.oom_kills is not None:
                before = self._counts.get(report.location, report.oom_kills)
                self.recent |= report.oom_kills > before
                self._counts[report.location] = report.oom_kills
