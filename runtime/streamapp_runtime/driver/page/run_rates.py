"""The rates of a run, and its history: what was read and written since the last points."""

from collections import Counter, deque
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.page.run_history import POINT_SECONDS, HistoryPoint, RunHistory, StreamSamples
from streamapp_runtime.lanes.protocol.lane_levels import LATENCY_MS
from streamapp_runtime.process_memory import resident_bytes

RATE_POINTS: Final = 5
"""Rates of streams are those of the last so many points: a single batch is too short for them."""


@dataclass(frozen=True, slots=True)
class _Totals:
    """Records read and written so far, by stream, and rows read by task."""

    at: float
    read: Mapping[str, int]
    written: Mapping[str, int]
    by_task: Mapping[str, int]


@dataclass(slots=True)
class RunRates:
    """The totals of a run, now and at its last points."""

    _point_at: float  # of the last point, by a clock that does not jump
    read: Counter[str] = field(default_factory=Counter)  # records, by stream
    written: Counter[str] = field(default_factory=Counter)
    read_by_task: Counter[str] = field(default_factory=Counter)  # rows
    history: RunHistory = field(default_factory=RunHistory)
    _places: Mapping[str, int] = field(default_factory=dict)  # of the streams of the app in the history
    _totals: deque[_Totals] = field(default_factory=lambda: deque(maxlen=RATE_POINTS + 1))
    _rows_in: int = 0  # since the last point, as are the next four
    _rows_out: int = 0
    _batch_count: int = 0
    _batch_seconds: float = 0.0
    _latency_ms: int | None = None  # the longest

    def __post_init__(self) -> None:
        self._totals.append(_Totals(self._point_at, {}, {}, {}))

    def begin_model(self, streams: Iterable[str]) -> None:
        """Forget what is known of tasks: others may have their names."""
        self._places = {name: place for place, name in enumerate(streams)}
        self.read_by_task.clear()
        self._totals = deque((replace(one, by_task={}) for one in self._totals), self._totals.maxlen)

    def count(self, batch: BatchResult, intermediate_streams: Container[str]) -> None:
        """Count the rows of a batch, past the streams that the app makes between its own operators."""
        rows_in, rows_out = batch.rows_of_users(intermediate_streams)
        self._rows_in += rows_in
        self._rows_out += rows_out
        self._batch_count += 1
        self._batch_seconds += batch.seconds
        self.read.update(batch.read)
        counted = (one for report in batch.reports for one in report.counted)
        for latency in (number for counter, _, number in counted if counter == LATENCY_MS):
            self._latency_ms = max(latency, self._latency_ms or 0)

    def sample(self, at: float, now: float, last: BatchResult | None, worker_memory: int = 0) -> None:
        """Add a point to the history, where the last one is old enough."""
        seconds = at - self._point_at
        if seconds < POINT_SECONDS:
            return
        mean = self._batch_seconds / self._batch_count if self._batch_count else None
        rates = self._rows_in / seconds, self._rows_out / seconds
        self._totals.append(_Totals(at, dict(self.read), dict(self.written), dict(self.read_by_task)))
        figures = StreamSamples.of(self._places, *self.of_streams(), last.lags if last else {})
        lowest = min(last.watermarks.values(), default=None) if last else None
        behind = None if lowest is None else now - lowest / 1000
        self.history.add(
            HistoryPoint(
                now,
                *rates,
                last.lag if last else 0,
                mean,
                figures,
                behind,
                None if self._latency_ms is None else self._latency_ms / 1000,
                resident_bytes(),
                worker_memory,
            )
        )
        self._rows_in = self._rows_out = self._batch_count = 0
        self._batch_seconds, self._latency_ms = 0.0, None
        self._point_at = at

    def of_streams(self) -> tuple[dict[str, float], dict[str, float]]:
        """Records read and written a second, by stream."""
        oldest, newest = self._totals[0], self._totals[-1]
        return self._rates(oldest.read, newest.read), self._rates(oldest.written, newest.written)

    def of_tasks(self) -> dict[str, float]:
        """Rows read a second, by task."""
        return self._rates(self._totals[0].by_task, self._totals[-1].by_task)

    def _rates(self, before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, float]:
        seconds = max(self._totals[-1].at - self._totals[0].at, 1e-9)
        return {name: (number - before.get(name, 0)) / seconds for name, number in after.items()}
