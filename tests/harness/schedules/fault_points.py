"""Where a schedule touches drivers and lanes, and what it does to them there."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

WAIT_SECONDS: Final = 60.0
"""So long something may take that nothing holds up."""


class FaultPoint(StrEnum):
    """A place in the work of a driver or a lane."""

    ORDERED = "a lane has its order"
    COMMITS = "a lane is about to commit"
    COMMITTED = "a lane has committed"
    REPORTS = "a lane is about to report"
    WRITES = "a driver is about to commit what it records itself"
    FENCES = "a driver is about to fence"
    SENDS = "a driver is about to send orders"
    HEARD = "a driver has all reports"


LANE_POINTS: Final = (FaultPoint.ORDERED, FaultPoint.COMMITS, FaultPoint.COMMITTED, FaultPoint.REPORTS)
DRIVER_POINTS: Final = (FaultPoint.WRITES, FaultPoint.FENCES, FaultPoint.SENDS, FaultPoint.HEARD)


class FaultKind(StrEnum):
    """What befalls a driver or a lane."""

    HOLD = "stops until it is woken, and nobody notices"
    PAUSE = "stops until it is woken, and its driver takes its executor for lost"
    DIE = "ends, and leaves its store"
    DIE_WITH_DISK = "ends, and its store is gone"
    CUT = "loses its connection, and goes on"
    TWICE = "reports twice"
    LATE = "repeats a report after the next order"


class DeadWorkerError(Exception):
    """The worker of a lane ended here, as a schedule has it."""


@dataclass(frozen=True, slots=True)
class Participant:
    """A driver, or one of its lanes."""

    driver: int
    lane: int | None = None


class HangingError(Exception):
    """Something that nothing holds up does not come about."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What befalls a participant when it comes to a point next."""

    participant: Participant
    point: FaultPoint
    kind: FaultKind


@dataclass(slots=True)
class FaultPoints:
    """The faults that wait for somebody, and who sleeps because of one."""

    wait_seconds: float = WAIT_SECONDS
    changed: threading.Condition = field(default_factory=threading.Condition)
    _armed: list[Fault] = field(default_factory=list)
    _asleep: dict[object, threading.Event] = field(default_factory=dict)  # by who sleeps

    def arm(self, fault: Fault) -> None:
        """Have a fault wait for its participant."""
        with self.changed:
            self._armed.append(fault)

    def disarm(self) -> None:
        """Have no fault wait any more."""
        with self.changed:
            self._armed.clear()

    def reached(self, participant: Participant, point: FaultPoint) -> FaultKind | None:
        """What befalls a participant that came to a point."""
        with self.changed:
            for fault in self._armed:
                if (fault.participant, fault.point) == (participant, point):
                    self._armed.remove(fault)
                    return fault.kind
        return None

    def sleep(self, sleeper: object) -> None:
        """Return when the sleeper is woken."""
        woken = threading.Event()
        with self.changed:
            self._asleep[sleeper] = woken
            self.changed.notify_all()
        if not woken.wait(4 * self.wait_seconds):
            raise HangingError("nobody woke a sleeper")

    def is_asleep(self, sleeper: object) -> bool:
        """Whether it sleeps."""
        return sleeper in self._asleep

    def sleepers(self) -> list[object]:
        """Who sleeps, the one that has slept longest first."""
        with self.changed:
            return list(self._asleep)

    def wake(self, sleeper: object) -> None:
        """Have it go on."""
        with self.changed:
            woken = self._asleep.pop(sleeper, None)
        if woken is not None:
            woken.set()

    def note_change(self) -> None:
        """Have whoever waits look again."""
        with self.changed:
            self.changed.notify_all()

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Return when something holds; HangingError where it never does."""
        with self.changed:
            if not self.changed.wait_for(holds, self.wait_seconds):
                raise HangingError(f"{what} does not come about")

    def wait_long(self, holds: Callable[[], bool]) -> None:
        """Return when something holds that a schedule may keep from happening."""
        with self.changed:
            self.changed.wait_for(holds, 4 * self.wait_seconds)
