"""The values of a run's metrics, and the text of them that Prometheus reads."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from streamapp.exposition.metric import Histogram, Metric, MetricKind
from streamapp.exposition.text_format import Values, metrics_text
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.failures import WELL
from streamapp_runtime.driver.reporting.run_metrics import (
    BAD,
    BATCH,
    BATCHES,
    BOUNDS,
    BY_TOPIC,
    BYTES,
    COUNTED,
    ENTRIES,
    FAILED,
    FILLING,
    INCARNATION,
    LAG,
    METRICS,
    MODEL,
    MOVED,
    REFUSED,
    RESTORED,
    RESTORING,
    ROWS_IN,
    TASKS,
    WATERMARK,
)
from streamapp_runtime.driver.reporting.state_sizes import StateSizes
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.operators.stateless.stream_operations import declared_stream


@dataclass(slots=True)
class RunMetrics:
    """The values, as far as the driver knows them. Written by the driver, read by whoever scrapes."""

    clock: Callable[[], float]  # seconds
    _state: StateSizes | None = None
    _streams: dict[str, str] = field(default_factory=dict)  # by topic
    _values: dict[Metric, dict[str, float]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(float))
    )
    _seconds: dict[str, Histogram] = field(default_factory=lambda: defaultdict(lambda: Histogram(BOUNDS)))
    _lock: Lock = field(default_factory=Lock)

    def launched(self, launch: Launch) -> None:
        """Note what runs."""
        self._state = StateSizes(Path(launch.setup.state), launch.app.application_id, self.clock)
        with self._lock:
            self._values[TASKS] = {name: float(len(tasks)) for name, tasks in launch.lanes.items()}
            self._values[MODEL][""] = launch.model.version
            self._values[REFUSED][""] = 0
            for metric in METRICS:
                if not metric.labels and metric.kind is MetricKind.COUNTER:
                    self._values[metric][""] = 0.0
            of_tasks = [p for parts in launch.partitions.values() for p in parts]
            of_tables = [p for table in launch.broadcasts for p in table.partitions]
            streams = {declared_stream(partition.stream) for partition in of_tasks + of_tables}
            self._streams = {topic: declared_stream(stream) for stream, topic in launch.topics.items()}
            self._values[ROWS_IN] = dict.fromkeys(streams, 0.0)
            self._values[LAG] = dict.fromkeys(streams, 0.0)

    def batch(self, batch: BatchResult) -> None:
        """Count a batch."""
        with self._lock:
            for metric, number in ((BATCHES, 1), (BAD, batch.bad), (RESTORED, batch.restored)):
                self._values[metric][""] += number
            self._values[RESTORING][""] = batch.restoring
            self._values[FILLING][""] = batch.filling
            self._values[INCARNATION][""] = batch.incarnation
            for stream in self._values[LAG]:
                self._values[LAG][stream] = batch.lags.get(stream, 0)
            if all(report.status in WELL for report in batch.reports):
                for stream, rows in batch.given.items():
                    self._values[ROWS_IN][stream] += rows
            for report in batch.reports:
                for counter, name, number in report.counted if report.status in WELL else ():
                    metric = COUNTED[counter]
                    called = self._streams.get(name, name) if metric in BY_TOPIC else name
                    self._values[metric][called] += number
            self._values[WATERMARK] = {stream: at / 1000 for stream, at in batch.watermarks.items()}
            self._seconds[BATCH].see(batch.seconds)
            for report in batch.reports:
                for step, seconds in report.steps:
                    self._seconds[step].see(seconds)

    def changed(self, change: RunChange) -> None:
        """Note who runs what from now on, and what cannot be."""
        with self._lock:
            self._values[TASKS] = {name: float(len(tasks)) for name, tasks in change.lanes.items()}
            self._values[MODEL][""] = change.version
            self._values[MOVED][""] += change.moved
            self._values[REFUSED][""] = len(change.warnings)

    def trouble(self, _: str) -> None:
        """Count a batch that failed."""
        with self._lock:
            self._values[FAILED][""] += 1

    def text(self) -> str:
        """What a scrape is given."""
        state = self._state() if self._state else {}
        with self._lock:
            self._values[ENTRIES] = {table: float(entries) for table, (entries, _) in state.items()}
            self._values[BYTES] = {table: float(size) for table, (_, size) in state.items()}
            return metrics_text(METRICS, self._of)

    def _of(self, metric: Metric) -> Values:
        if metric.kind is MetricKind.HISTOGRAM:
            return {(step,): seen for step, seen in self._seconds.items()}
        return {(name,) * len(metric.labels): number for name, number in self._values[metric].items()}
