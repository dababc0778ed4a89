"""Failures in a row, outages, kills for want of memory, and how long the driver waits before it tries again.

A system that cannot be reached is waited for longer than batches are tried that fail by themselves. Tasks
whose rows wait for a remote table that is unavailable are given rows again after a while.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from streamapp.backoff import Backoff
from streamapp_runtime.driver.failures import MOST_FAILURES, FailedError
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.stream_system import SystemTrouble

MOST_OUTAGE_SECONDS: Final = 300.0
"""How long a system may be away before the app gives up; whoever started it may start it again."""
OUTAGE_PAUSE_SECONDS: Final = 1.0
"""How long the driver waits before it tries a system again that is unavailable."""
BATCH_BACKOFF: Final = Backoff(0.2, 5.0)
TABLE_BACKOFF: Final = Backoff(0.1, 5.0)


@dataclass(slots=True)
class Outage:
    """Since when the system has been away, and why."""

    clock: Callable[[], float]
    since: float | None = None
    reason: str = ""  # of the last failure
    of_rows: bool = False  # whether it was seen in a batch with rows

    def endured(self, reason: str, *, rows: bool = False) -> bool:
        """Note that it is still unavailable, be it for rows; False where that has been so for too long."""
        now = self.clock()
        self.reason = reason
        self.of_rows |= rows
        self.since = now if self.since is None else self.since
        return now - self.since <= MOST_OUTAGE_SECONDS

    def over(self, *, rows: bool = True) -> None:
        """Note that it answers; where it did not as it was given rows, a batch without any does not tell."""
        if rows or not self.of_rows:
            self.since, self.of_rows = None, False


class OutagePhase(StrEnum):
    """The phase of an outage."""

    BEGUN = "begun"
    GOES_ON = "goes on"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class OutageNotice:
    """A notice of an outage at one of its moments."""

    phase: OutagePhase
    reason: str  # the last one
    seconds: float = 0.0  # since it began
    failed_batches: int = 0  # in it so far
    of_batch: bool = False  # whether this moment is that of a failed batch


@dataclass(slots=True)
class OutageNotes:
    """Tells each outage once as it begins and once as it ends; any thread may note one.

    An outage is what lanes wait for within a batch, what the driver waits for between two, or what batches
    fail for.
    """

    clock: Callable[[], float]
    notify: Callable[[OutageNotice], None]
    _since: float | None = None
    _over_at: float = float("-inf")
    _failed: int = 0
    _reason: str = ""
    _of_driver: bool = False  # whether nothing but the driver's own calls is known to wait
    _waiting: set[str] = field(default_factory=set)  # lanes that wait, until they have done a batch
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def lane_waits(self, lane: str, reason: str) -> None:
        """Note what keeps a lane in its batch."""
        with self._lock:
            self._of_driver = False
            self._waiting.add(lane)
            if self._since is None:
                self._begin(reason)

    def driver_waits(self, trouble: SystemTrouble) -> None:
        """Note what keeps the driver's own calls, unless that was before the last outage ended."""
        with self._lock:
            if self._since is None and trouble.noted > self._over_at:
                self._of_driver = True
                self._begin(f"the driver: {trouble.text}")

    def failed(self, reason: str) -> None:
        """Note that a batch failed for it."""
        with self._lock:
            self._of_driver = False
            self._failed += 1
            if self._since is None:
                self._begin(reason, of_batch=True)
                return
            self._reason = reason
            self._notify(OutagePhase.GOES_ON, of_batch=True)

    def looked(self) -> None:
        """Note that the driver's own calls went well."""
        if self._of_driver:
            self.succeeded((), ())

    def succeeded(self, lanes: Collection[str], present: Collection[str]) -> None:
        """Note that lanes have done a batch; all goes well where no other one of those present waits."""
        with self._lock:
            self._waiting = self._waiting.difference(lanes).intersection(present)
            if self._since is not None and not self._waiting:
                self._over_at = self.clock()
                self._notify(OutagePhase.OVER)
                self._since, self._failed, self._of_driver = None, 0, False

    def _begin(self, reason: str, *, of_batch: bool = False) -> None:
        self._since, self._reason = self.clock(), reason
        self._notify(OutagePhase.BEGUN, of_batch=of_batch)

    def _notify(self, phase: OutagePhase, *, of_batch: bool = False) -> None:
        seconds = 0.0 if self._since is None else self.clock() - self._since
        self.notify(OutageNotice(phase, self._reason, seconds, self._failed, of_batch))


@dataclass(slots=True)
class Retries:
    """The number of batch failures in a row, and the time since which the system has been away."""

    clock: Callable[[], float]  # seconds
    failures: int = 0  # in a row
    outage: Outage = field(init=False)
    _failing: frozenset[str] = frozenset()  # lanes that have not succeeded since the last failure

    def __post_init__(self) -> None:
        self.outage = Outage(self.clock)

    def pause_seconds(self) -> float | None:
        """The seconds to wait before lanes are bound again; None where nothing has failed."""
        if self.failures:
            return BATCH_BACKOFF.seconds(self.failures)
        return None if self.outage.since is None else OUTAGE_PAUSE_SECONDS

    def note_success(
        self, lanes: Collection[str], present: Collection[str], *, rows: bool, proven: bool
    ) -> bool:
        """Note that lanes did what they were to do, be it with rows; whether no failure counts any more.

        `proven`: nothing is suspected of the failures before. What one lane does says nothing of another,
        as long as that one is present.
        """
        still_failing = self._failing.difference(lanes).intersection(present)
        if not still_failing:
            self.failures = 0 if proven else self.failures
            self.outage.over(rows=rows)
        if rows or not self.outage.of_rows:
            self._failing = still_failing
        return proven and not still_failing

    def note_failure(self, reason: str, lanes: Collection[str], *, outage: bool, rows: bool) -> None:
        """Count a failure, or an outage; FailedError where there have been too many, or it is too long."""
        self._failing = frozenset(lanes)
        self.failures += 0 if outage else 1
        if outage and not self.outage.endured(reason, rows=rows):
            raise FailedError(f"the streams' system has been out of reach for too long: {reason}")
        if self.failures > MOST_FAILURES:
            raise FailedError(f"{self.failures} batches in a row failed, the last one with: {reason}")


@dataclass(slots=True)
class MemoryKills:
    """Kills of workers that wanted more memory than there is, by what the kernel counts beside them."""

    recent: bool = False
    _counts: dict[str, int] = field(default_factory=dict)  # by location

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Take what workers read. A count that is lower is of a container that was recreated."""
        for report in reports:
            if report.oom_kills is not None:
                before = self._counts.get(report.location, report.oom_kills)
                self.recent |= report.oom_kills > before
                self._counts[report.location] = report.oom_kills


@dataclass(slots=True)
class RemoteTableBackoff:
    """The tasks that wait, and until when; twice as long each time that all was in vain."""

    clock: Callable[[], float]  # seconds
    tasks: frozenset[str] = frozenset()
    reason: str = ""  # why they do, as the lanes said last
    _until: float = field(default=float("-inf"))
    _failures: int = 0  # in a row

    def paused(self) -> frozenset[str]:
        """The tasks that are given nothing for now."""
        return self.tasks if self.clock() < self._until else frozenset()

    def note(self, waiting: Mapping[str, str], reading: Collection[str]) -> bool:
        """Note which tasks wait of those that were given rows, and why; whether they are the first to."""
        first = bool(waiting) and not self.tasks
        if waiting:
            self.reason = "; ".join(sorted(set(waiting.values())))
            self.tasks |= frozenset(waiting)
            self._failures += 1
            self._until = self.clock() + TABLE_BACKOFF.seconds(self._failures)
        elif self.tasks & frozenset(reading):
            self.tasks, self._failures = frozenset(), 0
        return first
