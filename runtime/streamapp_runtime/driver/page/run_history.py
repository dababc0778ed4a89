"""The last 15 minutes of a run in bounded memory: one point every two seconds, all of them numbers."""

from collections import deque
from dataclasses import dataclass, field, fields
from typing import Final

HISTORY_SECONDS: Final = 900.0
POINT_SECONDS: Final = 2.0
"""The least time between two points. A batch that takes longer is in one point, which covers all of it."""
MOST_POINTS: Final = int(HISTORY_SECONDS / POINT_SECONDS)


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """How a run went since the point before."""

    at: float  # seconds since 1970
    rows_in: float  # a second
    rows_out: float  # a second
    lag: int  # at the end
    batch_seconds: float | None = None  # of a batch on average; None where none ended

    def columns(self) -> dict[str, float | None]:
        """The numbers by the names that they have in JSON."""
        return {_NAMES[one.name]: _rounded(getattr(self, one.name)) for one in fields(self)}


_NAMES: Final = {
    "at": "at",
    "rows_in": "rowsIn",
    "rows_out": "rowsOut",
    "lag": "lag",
    "batch_seconds": "batchSeconds",
}


@dataclass(slots=True)
class RunHistory:
    """The points, of which the oldest make room."""

    _points: deque[HistoryPoint] = field(default_factory=lambda: deque(maxlen=MOST_POINTS))

    def add(self, point: HistoryPoint) -> None:
        """Note a point, and drop those that are too old: a run that hung has a gap, no stale points."""
        while self._points and point.at - self._points[0].at > HISTORY_SECONDS:
            self._points.popleft()
        self._points.append(point)

    @property
    def points(self) -> tuple[HistoryPoint, ...]:
        """From the oldest to the newest."""
        return tuple(self._points)


def history_columns(points: tuple[HistoryPoint, ...]) -> dict[str, list[float | None]]:
    """Points as one list for each number, which is how they are drawn."""
    columns = [point.columns() for point in points]
    return {name: [column[name] for column in columns] for name in _NAMES.values()}


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 3)
