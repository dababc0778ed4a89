"""The files that have changed since they were looked at last, and the moment when they are still again.

Files are polled: `docs/decisions/0067` has the figures.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

Stamp: TypeAlias = tuple[int, int, int] | None
"""Time of the last change in nanoseconds, size and inode; None for a file that is not there."""

LOOK_SECONDS: Final = 0.1
"""How often files are looked at."""
QUIET_SECONDS: Final = 0.03
"""So long nothing may change before a save counts as complete."""
MOST_SECONDS: Final = 0.6
"""So long a file that is gone or empty may take to come back: editors replace it, or empty it first."""


def stamp_of(path: Path) -> Stamp:
    """The stamp of a file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a third of the time of Path.stat
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


@dataclass(slots=True)
class WatchedFiles:
    """Files and their stamps."""

    stamps: dict[Path, Stamp] = field(default_factory=dict)

    def add(self, paths: Iterable[Path], read_since_ns: int = 0) -> None:
        """Watch more files, which somebody has read since then: what was saved later counts as changed."""
        for path in paths:
            if path not in self.stamps:
                stamp = stamp_of(path)
                is_newer = stamp is not None and read_since_ns and stamp[0] > read_since_ns
                self.stamps[path] = None if is_newer else stamp

    def take_changes(self) -> set[Path]:
        """The files that have changed since the last look."""
        current_stamps = {path: stamp_of(path) for path in self.stamps}
        changed = {path for path, stamp in current_stamps.items() if stamp != self.stamps[path]}
        self.stamps = current_stamps
        return changed

    def take_settled_changes(
        self, clock: Callable[[], float], pause: Callable[[float], None]
    ) -> frozenset[Path]:
        """The same once the files are still: whole saves, as far as files show that they are whole."""
        changed = self.take_changes()
        deadline = clock() + MOST_SECONDS
        while changed and clock() < deadline:
            pause(QUIET_SECONDS)
            more = self.take_changes()
            changed |= more
            if not more and not any(self._is_unfinished(path) for path in changed):
                break
        return frozenset(changed)

    def _is_unfinished(self, path: Path) -> bool:
        stamp = self.stamps[path]
        return stamp is None or stamp[1] == 0
