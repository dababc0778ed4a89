"""The progress of a run in the last seconds: steadier than one batch, and the basis of its estimated end."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

RECENT_SECONDS: Final = 10.0
LEAST_SECONDS: Final = 1.0
"""Of a shorter time nothing follows for what is left."""


@dataclass(frozen=True, slots=True)
class ProgressPoint:
    """The end of a batch."""

    at: float  # seconds
    rows_in: int  # so far
    rows_out: int
    lag: int | None  # None where it did not shrink as it will: tables were filled, or stores restored


@dataclass(slots=True)
class RecentProgress:
    """The batches of the last seconds, and the one before them."""

    _points: deque[ProgressPoint] = field(default_factory=deque)

    def note(self, point: ProgressPoint) -> None:
        """Take note of a batch."""
        self._points.append(point)
        while len(self._points) > 2 and self._points[1].at <= point.at - RECENT_SECONDS:
            self._points.popleft()

    @property
    def rates(self) -> tuple[float, float]:
        """Rows in and out a second."""
        first, last = self._points[0], self._points[-1]
        seconds = max(last.at - first.at, 1e-9)
        return (last.rows_in - first.rows_in) / seconds, (last.rows_out - first.rows_out) / seconds

    @property
    def seconds_left(self) -> float | None:
        """Until the lag is 0, if it keeps shrinking as it did; None where that cannot be said."""
        lags: list[tuple[float, int]] = []
        for point in reversed(self._points):
            if point.lag is None:
                break
            lags.append((point.at, point.lag))
        if not lags:
            return None
        (last_at, last_lag), (first_at, first_lag) = lags[0], lags[-1]
        seconds, shrunk = last_at - first_at, first_lag - last_lag
        return last_lag * seconds / shrunk if seconds >= LEAST_SECONDS and shrunk > 0 else None
