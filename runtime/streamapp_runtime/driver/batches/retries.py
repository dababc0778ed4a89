"""Failures in a row, outages, kills for want of memory, and how long the driver waits before it tries again.

A system that cannot be reached is waited for longer than batches are tried that fail by themselves.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from streamapp_runtime.driver.failures import MOST_FAILURES, FailedError
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.stream_system import DeniedError, FullError, UnavailableError

MOST_OUTAGE_SECONDS: Final = 300.0
"""How long a system may be away before the app gives up; whoever started it may start it again."""
OUTAGE_PAUSE_SECONDS: Final = 1.0
"""How long the driver waits before it tries a system again that is away."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 5.0


def retry_delay(failures: int) -> float:
    """Seconds before a batch is tried again: longer the more have failed in a row."""
    return min(_FIRST_PAUSE_SECONDS * 2**failures, _LONGEST_PAUSE_SECONDS) if failures else 0.0


def is_outage(error: Exception) -> bool:
    """Whether an error says only that the system does not answer: lack of room or of rights is another."""
    return isinstance(error, UnavailableError) and not isinstance(error, DeniedError | FullError)


@dataclass(slots=True)
class Outage:
    """Since when the system has been away, and why."""

    clock: Callable[[], float]
    since: float | None = None
    reason: str = ""  # of the last failure
    of_rows: bool = False  # whether it was seen in a batch with rows

    def endured(self, reason: str, *, rows: bool = False) -> bool:
        """Note that it is away still, be it for rows; False where that has been so for too long."""
        now = self.clock()
        self.reason = reason
        self.of_rows |= rows
        self.since = now if self.since is None else self.since
        return now - self.since <= MOST_OUTAGE_SECONDS

    def over(self, *, rows: bool = True) -> None:
        """Note that it answers; where it did not as it was given rows, a batch without any does not tell."""
        if rows or not self.of_rows:
            self.since, self.of_rows = None, False


@dataclass(slots=True)
class Retries:
    """How often batches have failed in a row, and since when the system has been away."""

    clock: Callable[[], float]  # seconds
    failures: int = 0  # in a row
    outage: Outage = field(init=False)
    _failing: frozenset[str] = frozenset()  # lanes that have not succeeded since the last failure

    def __post_init__(self) -> None:
        self.outage = Outage(self.clock)

    def pause_seconds(self) -> float | None:
        """How long to wait before lanes are bound anew; None where nothing has failed."""
        if self.failures:
            return retry_delay(self.failures)
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
    """Whether lost workers wanted more memory than there is, by what the kernel counts beside them."""

    recent: bool = False
    _counts: dict[str, int] = field(default_factory=dict)  # by location

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Take what workers read. A count that is lower is of a container that was made anew."""
        for report in reports:
            if report.oom_kills is not None:
                before = self._counts.get(report.location, report.oom_kills)
                self.recent |= report.oom_kills > before
                self._counts[report.location] = report.oom_kills
