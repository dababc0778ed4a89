"""A system that cannot be reached: it is waited for longer than batches are tried that fail by themselves."""

from collections.abc import Callable
from dataclasses import dataclass

from streamapp_runtime.systems.stream_system import DeniedError, FullError, UnavailableError

MOST_SECONDS = 300.0
"""How long a system may be away before the app gives up; whoever started it may start it again."""
PAUSE_SECONDS = 1.0


def is_away(error: Exception) -> bool:
    """Whether an error says only that the system does not answer: lack of room or of rights is another."""
    return isinstance(error, UnavailableError) and not isinstance(error, DeniedError | FullError)


@dataclass(slots=True)
class Outage:
    """Since when the system has been away."""

    clock: Callable[[], float]
    since: float | None = None
    _of_rows: bool = False  # whether it was seen in a batch with rows

    def endured(self, *, rows: bool = False) -> bool:
        """Note that it is away still, be it for rows; False where that has been so for too long."""
        now = self.clock()
        self._of_rows |= rows
        self.since = now if self.since is None else self.since
        return now - self.since <= MOST_SECONDS

    def over(self, *, rows: bool = True) -> None:
        """Note that it answers; where it did not as it was given rows, a batch without any does not tell."""
        if rows or not self._of_rows:
            self.since, self._of_rows = None, False
