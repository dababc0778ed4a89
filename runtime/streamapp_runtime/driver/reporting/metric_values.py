"""The values of a run's metrics, set from what the loop tells."""

from collections import Counter
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry

from streamapp.exposition.metric import Metric
from streamapp.exposition.metric_collector import GaugeValues, MetricCollector
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus, by_system
from streamapp_runtime.driver.imports.table_refreshes import RefreshStatus
from streamapp_runtime.driver.reporting.newest_levels import NewestLevels
from streamapp_runtime.driver.reporting.run_metrics import (
    BAD,
    BATCH,
    BATCHES,
    BOUNDS,
    BYTES,
    COUNTED,
    DELIVERED,
    DELIVERIES,
    DELIVERY_FAILURES,
    ENTRIES,
    FAILED,
    FILLING,
    FREE_BYTES,
    INCARNATION,
    LAG,
    LATENCY,
    MEMORY,
    METRICS,
    MODEL,
    MOVED,
    OUTBOX,
    REFRESH_FAILURES,
    REFRESHES,
    REFUSED,
    RESTORED,
    RESTORING,
    ROWS_IN,
    SECONDS,
    SILENT,
    TASKS,
    TOLD_OTHERWISE,
    VOLUME,
    WATERMARK,
)
from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.status_rules import is_fine
from streamapp_runtime.lanes.protocol.lane_levels import LATENCY_MS
from streamapp_runtime.operators.stateless.stream_operations import declared_stream
from streamapp_runtime.systems.answering_systems import SilentSystem


@dataclass(slots=True)
class RunMetrics(RunObserver):
    """The values, as far as the driver knows them. Written by the driver, read by whoever scrapes."""

    _values: MetricCollector = field(default_factory=lambda: MetricCollector(METRICS, BOUNDS))
    _input_streams: frozenset[str] = frozenset()
    _state: NewestLevels = field(default_factory=NewestLevels)
    _delivery_totals: Counter[tuple[Metric, str]] = field(default_factory=Counter)  # by counter and system
    _refreshed: dict[str, RefreshStatus] = field(default_factory=dict)  # by stream

    @property
    def registry(self) -> CollectorRegistry:
        """The registry that a scrape reads."""
        return self._values.registry

    def launched(self, launch: Launch) -> None:
        """Note what runs."""
        self._state.run_by(launch.lanes)
        task_partitions = [p for partitions in launch.partitions.values() for p in partitions]
        table_partitions = [p for table in launch.broadcasts for p in table.partitions]
        self._input_streams = frozenset(
            declared_stream(partition.stream) for partition in task_partitions + table_partitions
        )
        with self._values.changes():
            self._values.set_gauge(TASKS, _task_counts(launch.lanes))
            self._values.set_gauge(MODEL, launch.model.version)
            self._values.set_gauge(REFUSED, 0)
            self._values.set_gauge(LAG, {(stream,): 0 for stream in self._input_streams})
            for stream in self._input_streams:
                self._values.increment(ROWS_IN, stream, by=0)

    def batch_committed(self, batch: BatchResult) -> None:
        """Count a batch."""
        values = self._values
        with values.changes():
            for metric, number in ((BATCHES, 1), (BAD, batch.bad), (RESTORED, batch.restored)):
                values.increment(metric, by=number)
            values.set_gauge(RESTORING, batch.restoring)
            values.set_gauge(FILLING, batch.filling)
            values.set_gauge(INCARNATION, batch.incarnation)
            values.set_gauge(LAG, {(stream,): batch.lags.get(stream, 0) for stream in self._input_streams})
            values.set_gauge(WATERMARK, {(stream,): at / 1000 for stream, at in batch.watermarks.items()})
            for stream, rows in batch.read.items():
                values.increment(ROWS_IN, stream, by=rows)
            values.observe(SECONDS, batch.seconds, BATCH)
            if self._state.note(batch.reports):
                self._set_state_levels()
            for report in batch.reports:
                for counter, name, number in report.counted if is_fine(report.status) else ():
                    if counter == LATENCY_MS:
                        values.observe(LATENCY, number / 1000, name)
                    if counter in TOLD_OTHERWISE:
                        continue
                    values.increment(COUNTED[counter], name, by=number)
                for step, seconds in report.steps:
                    values.observe(SECONDS, seconds, step)

    def changed(self, change: RunChange) -> None:
        """Note who runs what from now on, and what cannot be."""
        with self._values.changes():
            self._values.set_gauge(TASKS, _task_counts(change.lanes))
            self._state.run_by(change.lanes)
            self._set_state_levels()
            self._values.set_gauge(MODEL, change.version)
            self._values.set_gauge(REFUSED, len(change.warnings))
            self._values.increment(MOVED, by=change.moved)

    def batch_failed(self, _: str) -> None:
        """Count a batch that failed."""
        self._values.increment(FAILED)

    def outage(self, notice: OutageNotice) -> None:
        """Count a batch that failed for want of the streams' system."""
        if notice.of_batch:
            self._values.increment(FAILED)

    def deliveries_progressed(self, statuses: tuple[DeliveryStatus, ...]) -> None:
        """Note what waits for delivery into each system, and count what was delivered."""
        systems = by_system(statuses)
        totals: Counter[tuple[Metric, str]] = Counter()
        for status in systems:
            totals[DELIVERED, status.system] = status.delivered
            totals[DELIVERIES, status.system] = status.commits
            totals[DELIVERY_FAILURES, status.system] = status.failures
        with self._values.changes():
            self._values.set_gauge(OUTBOX, {(status.system,): status.waiting for status in systems})
            for (metric, system), total in totals.items():
                self._values.increment(metric, system, by=total - self._delivery_totals[metric, system])
        self._delivery_totals = totals

    def tables_refreshed(self, statuses: tuple[RefreshStatus, ...]) -> None:
        """Count the imports of newer versions of tables, and the looks that failed."""
        with self._values.changes():
            for status in statuses:
                last = self._refreshed.get(status.stream, RefreshStatus(status.stream))
                self._values.increment(REFRESHES, status.stream, by=status.versions - last.versions)
                self._values.increment(REFRESH_FAILURES, status.stream, by=status.failures - last.failures)
        self._refreshed = {status.stream: status for status in statuses}

    def systems_unavailable(self, systems: tuple[SilentSystem, ...]) -> None:
        """Note the systems that do not answer."""
        self._values.set_gauge(SILENT, {(system.name,): 1 for system in systems})

    def _set_state_levels(self) -> None:
        tables, volumes = self._state.tables(), self._state.volumes()
        self._values.set_gauge(ENTRIES, {(table,): entries for table, (entries, _) in tables.items()})
        self._values.set_gauge(BYTES, {(table,): size for table, (_, size) in tables.items()})
        self._values.set_gauge(MEMORY, {(name,): size for name, size in self._state.memory().items()})
        self._values.set_gauge(FREE_BYTES, {(name,): free for name, (free, _) in volumes.items()})
        self._values.set_gauge(VOLUME, {(name,): size for name, (_, size) in volumes.items()})


def _task_counts(lanes: Mapping[str, Sized]) -> GaugeValues:
    return {(processor,): len(tasks) for processor, tasks in lanes.items()}
