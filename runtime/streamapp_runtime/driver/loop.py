"""The loop: orders out, one Spark job, reports back; after a failure everything anew from checkpoints."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.flow import Demand, demands, gated, share_out
from streamapp_runtime.driver.launch import Launch
from streamapp_runtime.driver.ledger import Ledger
from streamapp_runtime.driver.seats import seats
from streamapp_runtime.driver.session import await_executors
from streamapp_runtime.lanes.orders import PROPERTY, LaneOrder, Orders, ReadRange, Report, TaskOrder
from streamapp_runtime.lanes.worker import entry
from streamapp_runtime.program.program import PythonLayer
from streamapp_runtime.program.sql_layer import apply
from streamapp_runtime.systems.system import Span, System

KEEP_ALIVE_SECONDS = 20.0
"""Idle Python workers end after a minute, and what they hold with them."""
MOST_FAILURES = 5
"""So many batches in a row may fail before the app gives up."""
FATAL = {"bad": "a record cannot be decoded", "gone": "records that were not yet read are gone"}


class FailedError(Exception):
    """The app cannot go on; the message says why."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch did."""

    number: int
    seconds: float
    rows_in: int
    rows_out: int
    bytes_in: int
    bad: int
    restoring: int  # tasks that are still bringing back their stores
    lag: int  # records that are there and not yet read
    reports: tuple[Report, ...]


@dataclass(slots=True)
class Loop:
    """One driver's batches, one after the other."""

    session: SparkSession
    system: System
    ledger: Ledger
    launch: Launch
    rows: int
    clock: Callable[[], int] = field(default=lambda: time.time_ns() // 1_000_000)
    number: int = 0
    failures: int = 0
    ready: bool = False  # every store was at its checkpoint when last asked
    gate: Mapping[Partition, int] = field(default_factory=dict)
    _frame: DataFrame | None = None
    _last: float = 0.0

    def start(self) -> None:
        """Note how far tables have to be filled before they are joined, and build what every batch runs."""
        bootstrap = self.launch.course.bootstrap
        waited = [p for parts in self.launch.partitions.values() for p in parts if p.stream in bootstrap]
        self.gate = {partition: span.end for partition, span in self._spans(waited).items()}
        self._build()

    def step(self) -> Batch | None:
        """Run one batch; None where there is nothing to do."""
        found = self._demands()
        lag = sum(demand.lag for demand in found)
        positions = self.ledger.positions()
        waiting = gated(self.launch.partitions, positions, self.gate)
        given = share_out(found, self.rows, self.launch.course, waiting) if self.ready else []
        idle = time.monotonic() - self._last > KEEP_ALIVE_SECONDS
        if not given and self.ready and not idle:
            return None
        return self._run(given, lag)

    def release(self) -> None:
        """Settle and close the stores, so that the next start finds them as they should be."""
        self._run([], 0, release=True)

    @property
    def behind(self) -> bool:
        """Whether there is anything to read, or a store to bring back."""
        return not self.ready or bool(self._demands())

    def _run(self, given: list[Demand], lag: int, *, release: bool = False) -> Batch | None:
        self.number += 1
        orders = self._orders(given, release)
        begun = time.monotonic()
        try:
            self.session.sparkContext.setLocalProperty(PROPERTY, orders.text())
            assert self._frame is not None  # noqa: S101 - built by start
            reports = tuple(Report.parse(row.report) for row in self._frame.collect())
        except PySparkException as error:
            self._recover(_first_line(error))
            return None
        self._last = time.monotonic()
        self._take(reports)
        told = {report.status for report in reports}
        restoring = sum(report.status == "restoring" for report in reports)
        if told <= {"committed"}:
            self.failures, self.ready = 0, True
            self._forget_read()
        elif told & {"fenced", "unavailable", "busy", "store"}:
            self._recover("; ".join(r.message for r in reports if r.status not in {"committed", "restoring"}))
        return Batch(
            number=self.number,
            seconds=self._last - begun,
            rows_in=sum(report.rows_in for report in reports),
            rows_out=sum(report.rows_out for report in reports),
            bytes_in=sum(report.bytes_in for report in reports),
            bad=sum(report.bad for report in reports),
            restoring=restoring,
            lag=lag - sum(demand.lag for demand in given),
            reports=reports,
        )

    def _take(self, reports: tuple[Report, ...]) -> None:
        for report in reports:
            if report.checkpoint:
                self.ledger.checkpoints[report.task] = report.checkpoint
            if report.status in FATAL:
                raise FailedError(f"{report.task}: {FATAL[report.status]}: {report.message}")

    def _recover(self, why: str) -> None:
        """Fence what may still be running, read what was committed, and begin with new workers."""
        self.failures += 1
        if self.failures > MOST_FAILURES:
            raise FailedError(f"{MOST_FAILURES} batches in a row failed, the last one with: {why}")
        self.ledger.raise_incarnation()
        self.ready = False
        self._build()

    def _build(self) -> None:
        lanes = len(self.launch.lanes)
        found = await_executors(self.session, lanes) if lanes > 1 else {}
        hosts = [(host, name) for name, host in sorted(found.items(), key=lambda one: int(one[0]))]
        frame = seats(self.session, hosts[:lanes], lanes)
        layers = self.launch.program.layers
        for number, layer in enumerate(layers):
            if isinstance(layer, PythonLayer):
                last = number == len(layers) - 1
                schema = "task INT, report STRING" if last else self.launch.program.schema
                # A different environment gives each layer worker processes of its own.
                self.session.sparkContext.environment["STREAMAPP_LAYER"] = str(number)
                work = entry(self.launch.program, number, self.launch.setup, self.ledger.incarnation)
                frame = frame.mapInArrow(work, schema)
            else:
                frame = apply(frame, layer)
        self._frame = frame
        self.ready = False

    def _orders(self, given: list[Demand], release: bool) -> Orders:
        ranges: dict[str, list[ReadRange]] = {}
        for demand in sorted(given, key=lambda d: d.partition):
            asked = ReadRange(demand.partition.stream, demand.partition.index, demand.start, demand.end)
            ranges.setdefault(demand.task, []).append(asked)
        changelog = self.launch.assignment.layout.changelog
        lanes = tuple(
            LaneOrder(
                processor,
                tuple(
                    TaskOrder(
                        task,
                        changelog[task],
                        self.ledger.checkpoints.get(task, ""),
                        tuple(ranges.get(task, ())),
                    )
                    for task in tasks
                ),
            )
            for processor, tasks in self.launch.lanes.items()
        )
        return Orders(self.ledger.incarnation, self.number, self.clock(), lanes, release)

    def _demands(self) -> list[Demand]:
        every = [p for partitions in self.launch.partitions.values() for p in partitions]
        return demands(self.launch.partitions, self.ledger.positions(), self._spans(every))

    def _spans(self, partitions: list[Partition]) -> dict[Partition, Span]:
        topics = self.launch.topics
        asked = {Partition(topics.get(p.stream, p.stream), p.index): p for p in partitions}
        return {asked[partition]: span for partition, span in self.system.spans(asked).items()}

    def _forget_read(self) -> None:
        """Records of the app's own streams go once they are read."""
        own = set(self.launch.course.priority)
        topics = self.launch.topics
        self.system.delete_before(
            {
                Partition(topics.get(p.stream, p.stream), p.index): position
                for p, position in self.ledger.positions().items()
                if p.stream in own
            }
        )


def data_folder(app_folder: Path, said: str) -> Path:
    """The embedded system's folder, relative to where the command runs."""
    return (app_folder / said).resolve()


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
