"""The last 15 minutes of a run in bounded memory: one point every two seconds, all of them numbers."""

from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Final

HISTORY_SECONDS: Final = 900.0
POINT_SECONDS: Final = 2.0
"""The least time between two points. A batch that takes longer is in one point, which covers all of it."""
MOST_POINTS: Final = int(HISTORY_SECONDS / POINT_SECONDS)
Columns = dict[str, list[float | None]]


@dataclass(frozen=True, slots=True)
class StreamSamples:
    """Rates and lags of streams at one moment, in four bytes a number: there may be hundreds of streams."""

    places: Mapping[str, int] = field(default_factory=dict)  # of streams, shared by the points of one model
    rates_in: Sequence[float] = ()  # NaN for a stream that is never read
    rates_out: Sequence[float] = ()
    lags: Sequence[float] = ()

    @classmethod
    def of(
        cls,
        places: Mapping[str, int],
        rates_in: Mapping[str, float],
        rates_out: Mapping[str, float],
        lags: Mapping[str, int],
    ) -> "StreamSamples":
        """The figures of the streams that have a place."""
        return cls(
            places,
            array("f", (rates_in.get(stream, nan) for stream in places)),
            array("f", (rates_out.get(stream, nan) for stream in places)),
            array("f", (lags.get(stream, 0) for stream in places)),
        )


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """The progress of a run since the point before."""

    at: float  # seconds since 1970
    rows_in: float  # a second
    rows_out: float  # a second
    lag: int  # at the end
    batch_seconds: float | None = None  # of a batch on average; None where none ended
    streams: StreamSamples = field(default_factory=StreamSamples)
    behind: float | None = None  # seconds from the lowest watermark to the clock; None where there is none
    latency: float | None = None  # the longest of a batch, in seconds; None where nothing was read
    driver_memory: int = 0  # resident bytes of the driver's own process
    worker_memory: int = 0  # of those of all processors together

    def columns(self) -> dict[str, float | None]:
        """The numbers of the app as a whole by the names that they have in JSON."""
        return {
            "at": _rounded(self.at, 3),
            "rowsIn": _rounded(self.rows_in, 3),
            "rowsOut": _rounded(self.rows_out, 3),
            "lag": self.lag,
            "batchSeconds": _rounded(self.batch_seconds, 3),
            "behind": _rounded(self.behind, 1),
            "latency": _rounded(self.latency, 3),
            "driverMemory": self.driver_memory,
            "workerMemory": self.worker_memory,
        }

    def stream_columns(self, stream: str) -> dict[str, float | None]:
        """The same of one stream: nothing is known of it where another model ran that has no such stream."""
        figures, place = self.streams, self.streams.places.get(stream)
        rates = (None, None) if place is None else (figures.rates_in[place], figures.rates_out[place])
        return {
            "at": _rounded(self.at, 3),
            "rowsIn": _rounded(rates[0], 1),
            "rowsOut": _rounded(rates[1], 1),
            "lag": None if place is None else round(figures.lags[place]),
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


def history_columns(points: Iterable[HistoryPoint]) -> Columns:
    """Points as one list for each number, which is how they are drawn."""
    return _transposed([point.columns() for point in points], HistoryPoint(0, 0, 0, 0).columns())


def stream_history_columns(points: Iterable[HistoryPoint], stream: str) -> Columns:
    """The same of one stream."""
    return _transposed(
        [point.stream_columns(stream) for point in points], HistoryPoint(0, 0, 0, 0).stream_columns(stream)
    )


def _transposed(rows: list[dict[str, float | None]], names: Iterable[str]) -> Columns:
    return {name: [row[name] for row in rows] for name in names}


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None or isnan(number) else round(number, digits)
