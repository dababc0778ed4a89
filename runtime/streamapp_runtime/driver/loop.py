"""The loop: orders out, one Spark job, reports back; after a failure everything anew from checkpoints."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from streamapp.tasks.partition import Partition
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver.crew import Crew
from streamapp_runtime.driver.culprit import culprit
from streamapp_runtime.driver.flow import Demand, demands, gated, share_out
from streamapp_runtime.driver.launch import Launch
from streamapp_runtime.driver.ledger import Ledger
from streamapp_runtime.driver.losses import lost, reason
from streamapp_runtime.driver.positions import Positions
from streamapp_runtime.driver.session import ExecutorsMissingError, alive
from streamapp_runtime.lanes.orders import PROPERTY, LaneOrder, Orders, ReadRange, Report, TaskOrder
from streamapp_runtime.program.messages import told
from streamapp_runtime.systems.system import FencedError, Span, System, UnavailableError

KEEP_ALIVE_SECONDS = 20.0
"""Idle Python workers end after a minute, and what they hold with them."""
MOST_FAILURES = 5
"""So many batches in a row may fail before the app gives up."""
FAILURES_BEFORE_TRIAL = 2
"""A batch that fails once may have met a lost executor; one that fails again is looked into."""
FATAL = {"bad": "a record cannot be processed", "gone": "records that were not yet read are gone"}
WELL = frozenset({"committed", "restoring"})
TROUBLE = (PySparkException, Py4JError, OSError, EOFError, UnavailableError, ExecutorsMissingError)
"""What may befall a batch without anything being wrong with the app: it is tried again."""
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 5.0


class FailedError(Exception):
    """The app cannot go on; the message says why."""

    final = False
    """Whether trying again changes nothing."""


class HopelessError(FailedError):
    """The app cannot go on, and will not when it is started again as it is."""

    final = True


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch did."""

    number: int
    incarnation: int
    seconds: float
    rows_in: int
    rows_out: int
    bytes_in: int
    bad: int
    restoring: int  # tasks that are still bringing back their stores
    restored: int  # changelog entries that were replayed into stores
    lags: Mapping[str, int]  # by stream: records that were there and not given to this batch
    given: Mapping[str, int]  # by stream: records that were given to it
    reports: tuple[Report, ...]

    @property
    def lag(self) -> int:
        """Records that are there and not yet read."""
        return sum(self.lags.values())


@dataclass(slots=True)
class Loop:
    """One driver's batches, one after the other."""

    session: SparkSession
    system: System
    ledger: Ledger
    launch: Launch
    rows: int
    clock: Callable[[], int] = field(default=lambda: time.time_ns() // 1_000_000)
    pause: Callable[[float], None] = time.sleep
    trouble: Callable[[str], None] = lambda _: None  # hears why a batch failed
    interval: float = 0.0  # seconds from the start of one batch to that of the next, at least
    number: int = 0
    failures: int = 0  # in a row
    gate: Mapping[Partition, int] = field(default_factory=dict)
    bad: dict[tuple[str, int, int], str] = field(default_factory=dict)  # stream, partition, offset: why
    _suspects: tuple[Demand, ...] = ()  # what the batch that failed last was given
    _crew: Crew = field(init=False)
    _frame: DataFrame | None = None  # None while there is something to mend
    _fence: bool = False  # whether what failed may still be writing
    _unready: frozenset[str] = frozenset()  # tasks whose stores are not yet at their checkpoints
    _last: float = 0.0  # when a batch ended
    _begun: float = float("-inf")  # when a batch with records began

    def __post_init__(self) -> None:
        program, setup, lanes = self.launch.program, self.launch.setup, len(self.launch.lanes)
        self._crew = Crew(self.session, program, setup, lanes, self.pause)

    def start(self) -> None:
        """Note how far tables have to be filled before they are joined."""
        bootstrap = self.launch.course.bootstrap
        waited = [p for parts in self.launch.partitions.values() for p in parts if p.stream in bootstrap]
        self.gate = {partition: span.end for partition, span in self._spans(waited).items()}

    def step(self) -> Batch | None:
        """Run one batch; None where there is nothing to do, or where it failed and will be tried again."""
        try:
            if self._suspects and self.failures >= FAILURES_BEFORE_TRIAL:
                self._find_culprits()
            return self._step(self._frame or self._mended())
        except FencedError as error:
            raise FailedError(f"another driver runs this app: {error}") from error
        except TROUBLE as error:
            self._failed(reason(error))
            return None

    def release(self) -> None:
        """Settle and close the stores, so that the next start finds them as they should be."""
        if self._frame is not None:
            with suppress(*TROUBLE):  # what is not released now is restored at the next start
                self._run(self._frame, [], (), release=True)

    @property
    def behind(self) -> bool:
        """Whether there is anything to read, or to mend, or a store to bring back."""
        return self._frame is None or bool(self._unready) or bool(self._demands(self._positions()))

    def _step(self, frame: DataFrame) -> Batch | None:
        positions = self._positions()
        found = self._demands(positions)
        waiting = gated(self.launch.partitions, positions, self.gate)
        due = time.monotonic() - self._begun >= self.interval
        able = [demand for demand in found if due and demand.task not in self._unready]
        given = share_out(able, self.rows, self.launch.course, waiting)
        if not given and not self._unready:
            if time.monotonic() - self._last <= KEEP_ALIVE_SECONDS:
                return None
            self.ledger.check()
        batch = self._run(frame, given, found)
        if self._frame is not None and given:
            self._forget_read()
        return batch

    def _run(
        self, frame: DataFrame, given: list[Demand], found: Sequence[Demand], *, release: bool = False
    ) -> Batch:
        self.number += 1
        orders = self._orders(given, release)
        begun = time.monotonic()
        self._suspects = tuple(given) or self._suspects
        self._begun = begun if given else self._begun
        crash_point("driver.ordered")
        reports = self._collected(frame, orders)
        crash_point("driver.reported")
        self._last = time.monotonic()
        self._take(reports, proof=bool(given))
        return Batch(
            number=self.number,
            incarnation=orders.incarnation,
            seconds=self._last - begun,
            rows_in=sum(report.rows_in for report in reports),
            rows_out=sum(report.rows_out for report in reports),
            bytes_in=sum(report.bytes_in for report in reports),
            bad=sum(report.bad for report in reports),
            restoring=len(self._unready),
            restored=sum(report.restored for report in reports),
            lags=_by_stream(found) - _by_stream(given),
            given=_by_stream(given),
            reports=reports,
        )

    def _find_culprits(self) -> None:
        """Find the records on which a batch fails again and again, and do with them as the app wants."""
        suspects, self._suspects = self._suspects, ()
        while (found := culprit(suspects, self._tried)) is not None:
            if self.launch.setup.on_bad_record == "fail":
                raise HopelessError(f"{FATAL['bad']}: {found}")
            if found.place in self.bad:
                return  # it fails without this record as well: no record is to blame, and the failures count
            self.failures = 0
            self.bad[found.place] = found.reason

    def _tried(self, given: Sequence[Demand]) -> str | None:
        """Why a batch fails; None where it does not. Nothing of it is committed."""
        while self._frame is None or self._unready:
            self._run(self._frame or self._mended(), [], ())
        self.number += 1
        orders = replace(self._orders(given, release=False), trial=True)
        try:
            reports = self._collected(self._frame, orders)
        except PySparkException as error:
            if lost(error):
                raise
            self._frame, self._fence = None, True
            return told(error)
        return next((report.message for report in reports if report.status == "code"), None)

    def _collected(self, frame: DataFrame, orders: Orders) -> tuple[Report, ...]:
        self.session.sparkContext.setLocalProperty(PROPERTY, orders.text())
        return tuple(Report.parse(row.report) for row in frame.collect())

    def _take(self, reports: tuple[Report, ...], *, proof: bool) -> None:
        """Believe what was committed, and see to what was not."""
        for report in reports:
            if report.checkpoint:
                self.ledger.checkpoints[report.task] = report.checkpoint
            if report.status in FATAL:
                raise HopelessError(f"{report.task}: {FATAL[report.status]}: {report.message}")
        self._unready = frozenset(report.task for report in reports if report.status == "restoring")
        unwell = [report for report in reports if report.status not in WELL]
        if not unwell:
            if proof or not self._suspects:  # a batch without rows proves nothing of one that failed on rows
                self.failures, self._suspects = 0, ()
            return
        why = "; ".join(sorted({f"{report.status}: {report.message}" for report in unwell}))
        # A lane that found itself in another's place did nothing, and all others have said what they did.
        self._failed(why, fence=any(report.status != "misplaced" for report in unwell))

    def _failed(self, why: str, *, fence: bool = True) -> None:
        """Have everything begun anew before the next batch."""
        self.failures += 1
        self.trouble(why)
        self._frame = None
        self._fence = self._fence or fence
        if self.failures > MOST_FAILURES:
            raise FailedError(f"{self.failures} batches in a row failed, the last one with: {why}")
        if not alive(self.session):
            raise FailedError(f"Spark has ended: {why}")

    def _mended(self) -> DataFrame:
        """Fence what may still be running, read what was committed, and begin with new workers."""
        if self.failures:
            self.pause(min(_PAUSE_SECONDS * 2**self.failures, _LONGEST_PAUSE_SECONDS))
        if self._fence:
            self.ledger.raise_incarnation()
            self._fence = False
        self._unready = frozenset(self.launch.partitions)
        self._frame = self._crew.assemble(self.ledger.incarnation)
        return self._frame

    def _orders(self, given: Sequence[Demand], release: bool) -> Orders:
        ranges: dict[str, list[ReadRange]] = {}
        for demand in sorted(given, key=lambda d: (d.partition, d.start)):
            asked = ReadRange(demand.partition.stream, demand.partition.index, demand.start, demand.end)
            ranges.setdefault(demand.task, []).append(asked)
        changelog = self.launch.assignment.layout.changelog
        seats = self._crew.seats or ("",) * len(self.launch.lanes)
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
                seat,
            )
            for (processor, tasks), seat in zip(self.launch.lanes.items(), seats, strict=True)
        )
        asked_for = {(d.partition.stream, d.partition.index) for d in given}
        skip = tuple((*place, why) for place, why in self.bad.items() if place[:2] in asked_for)
        return Orders(self.ledger.incarnation, self.number, self.clock(), lanes, release, skip)

    def _positions(self) -> Positions:
        return Positions(self.ledger.of_tasks(), self.launch.shared, self.ledger.starts)

    def _demands(self, positions: Positions) -> list[Demand]:
        every = [p for partitions in self.launch.partitions.values() for p in partitions]
        return demands(self.launch.partitions, positions, self._spans(every))

    def _spans(self, partitions: list[Partition]) -> dict[Partition, Span]:
        topics = self.launch.topics
        asked = {Partition(topics.get(p.stream, p.stream), p.index): p for p in partitions}
        return {asked[partition]: span for partition, span in self.system.spans(asked).items()}

    def _forget_read(self) -> None:
        """Records of the app's own streams go once they are read."""
        own, topics = set(self.launch.course.priority), self.launch.topics
        read = self._positions().done_with(self.launch.partitions)
        self.system.delete_before(
            {Partition(topics[p.stream], p.index): at for p, at in read.items() if p.stream in own}
        )


def _by_stream(found: Sequence[Demand]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for demand in found:
        counted[demand.partition.stream] += demand.lag
    return counted
