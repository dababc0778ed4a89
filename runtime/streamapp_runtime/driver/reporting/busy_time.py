"""The utilization of a run: the share of the last minute in which batches were made."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

BUSY_SECONDS: Final = 60.0
STEP: Final = 10
"""Percent: reports are for changes that matter, since each is a write to the API server."""
HYSTERESIS: Final = 3
"""Percent beyond half a step: a value between two steps does not go back and forth."""


@dataclass(slots=True)
class BusyTime:
    """The batches of the last minute."""

    _batches: deque[tuple[float, float]] = field(default_factory=deque)  # when each ended, and its seconds
    _seconds: float = 0.0  # of all of these
    _began: float | None = None
    _reported: int | None = None

    def note(self, ended_at: float, seconds: float) -> None:
        """Take note of a batch."""
        if self._began is None:
            self._began = ended_at - seconds
        self._batches.append((ended_at, seconds))
        self._seconds += seconds

    def percent(self, now: float) -> int | None:
        """The share, in steps; None until a minute has passed since the first batch began."""
        since = now - BUSY_SECONDS
        while self._batches and self._batches[0][0] <= since:
            self._seconds -= self._batches.popleft()[1]
        if self._began is None or self._began > since:
            return None
        ended_at, seconds = self._batches[0] if self._batches else (now, 0.0)
        busy = self._seconds - max(since - (ended_at - seconds), 0.0)  # the oldest may have begun before
        share = min(max(100 * busy / BUSY_SECONDS, 0.0), 100.0)
        if self._reported is None or abs(share - self._reported) > STEP / 2 + HYSTERESIS:
            self._reported = round(share / STEP) * STEP
        return self._reported
