"""The newest levels of all lanes: the size of state on disk, the free space, the memory of workers."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from streamapp_runtime.lanes.protocol.lane_levels import (
    LANE_LEVELS,
    MEMORY_BYTES,
    STATE_BYTES,
    STATE_ENTRIES,
    VOLUME_BYTES,
    VOLUME_FREE,
)
from streamapp_runtime.lanes.protocol.task_report import TaskReport


@dataclass(slots=True)
class NewestLevels:
    """The newest levels of each lane."""

    _processors: dict[str, str] = field(default_factory=dict)  # task -> processor
    _levels: dict[tuple[str, str, str], int] = field(default_factory=dict)  # by processor, level and table

    def run_by(self, lanes: Mapping[str, Collection[str]]) -> None:
        """Note who runs what; where that is another than before, what is known is no longer true."""
        processors = {task: processor for processor, tasks in lanes.items() for task in tasks}
        if processors != self._processors:
            self._processors, self._levels = processors, {}

    def note(self, reports: Iterable[TaskReport]) -> bool:
        """Take what lanes measured; whether there was anything."""
        measured = {
            (self._processors[report.task], level, name): number
            for report in reports
            if report.task in self._processors
            for level, name, number in report.counted
            if level in LANE_LEVELS
        }
        self._levels = self._levels | measured  # whoever reads in another thread has a whole one
        return bool(measured)

    def tables(self) -> Mapping[str, tuple[int, int]]:
        """Entries and bytes by table."""
        entries, sizes = Counter[str](), Counter[str]()
        for (_, level, table), number in self._levels.items():
            if level == STATE_ENTRIES:
                entries[table] += number
            elif level == STATE_BYTES:
                sizes[table] += number
        return {table: (entries[table], size) for table, size in sizes.items()}

    def volumes(self) -> Mapping[str, tuple[int, int]]:
        """Free and all bytes of the volume with a processor's stores, by processor."""
        levels = self._levels
        return {
            processor: (free, levels[processor, VOLUME_BYTES, ""])
            for (processor, level, _), free in levels.items()
            if level == VOLUME_FREE
        }

    def memory(self) -> Mapping[str, int]:
        """The resident bytes of each processor's worker."""
        levels = self._levels.items()
        return {processor: size for (processor, level, _), size in levels if level == MEMORY_BYTES}
