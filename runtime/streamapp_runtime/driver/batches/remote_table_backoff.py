"""Tasks whose rows wait for a remote table that is unavailable: they are given rows again after a while."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from streamapp.backoff import Backoff

TABLE_BACKOFF: Final = Backoff(0.1, 5.0)


@dataclass(slots=True)
class RemoteTableBackoff:
    """Which tasks wait, and until when; twice as long each time that all was in vain."""

    clock: Callable[[], float]  # seconds
    tasks: frozenset[str] = frozenset()
    reason: str = ""  # why they do, as the lanes said last
    _until: float = field(default=float("-inf"))
    _failures: int = 0  # in a row

    def paused(self) -> frozenset[str]:
        """The tasks that are given nothing for now."""
        return self.tasks if self.clock() < self._until else frozenset()

    def note(self, waiting: Mapping[str, str], reading: Collection[str]) -> bool:
        """Note which tasks wait of those that were given rows, and why; whether they are the first to."""
        first = bool(waiting) and not self.tasks
        if waiting:
            self.reason = "; ".join(sorted(set(waiting.values())))
            self.tasks |= frozenset(waiting)
            self._failures += 1
            self._until = self.clock() + TABLE_BACKOFF.seconds(self._failures)
        elif self.tasks & frozenset(reading):
            self.tasks, self._failures = frozenset(), 0
        return first
