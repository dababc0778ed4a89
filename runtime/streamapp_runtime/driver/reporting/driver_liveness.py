"""The liveness of a driver: the activity of its loop, and the time by which that was to be over.

The loop notes each of its steps; the kubelet asks. A process that is stopped does not answer at all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.driver.reporting.run_observer import RunObserver

STEP_SECONDS: Final = 120.0
"""How much longer than it asks for a step may take. The longest single wait for a broker is 60 s, and so is
that for an app's own functions."""
START_SECONDS: Final = 600.0
"""How long a driver may take to its first step. It waits for a model for 300 s of these at most."""
LATELY_SECONDS: Final = 120.0
"""How long a driver that was late is the one that a kubelet is about to end."""


@dataclass(frozen=True, slots=True)
class Activity:
    """An activity of a driver, with its beginning and its deadline."""

    text: str
    since: float
    due: float | None  # by when it is to be over; None where it may take as long as it wants


@dataclass(slots=True)
class DriverLiveness(RunObserver):
    """The activity of one driver. Written by its loop, read by whoever asks."""

    clock: Callable[[], float]  # seconds
    step_seconds: float = STEP_SECONDS
    start_seconds: float = START_SECONDS
    _activity: Activity = field(init=False)
    warming_up: bool = False  # whether a standby driver is not yet able to take over
    _late_at: float = float("-inf")  # when somebody was last told that no progress is made

    def __post_init__(self) -> None:
        self._activity = Activity("starts", self.clock(), None)
        self.step_started("starts", self.start_seconds)

    def import_progressed(self, progress: ImportProgress) -> None:
        """Note that a table is imported, which is part of a start and may take longer than one."""
        self.step_started(f"imports {progress.stream}", self.start_seconds)

    def step_started(self, text: str, seconds: float | None) -> None:
        """Note a step that takes so many seconds by itself; None where nothing bounds it."""
        now, before = self.clock(), self._activity
        since = before.since if before.text == text else now
        self._activity = Activity(text, since, None if seconds is None else now + seconds + self.step_seconds)

    def stand_by(self) -> None:
        """Note that the driver has warmed up, and waits until it is to take over."""
        self.warming_up = False
        self._activity = Activity("waits to take over", self.clock(), None)

    def take_over(self) -> None:
        """Note that the driver takes over, which is a start without its first part."""
        self.step_started("takes over", self.start_seconds)

    def readiness(self) -> tuple[bool, str]:
        """True if the driver has warmed up and makes progress; and its activity."""
        alive, text = self.answer()
        return alive and not self.warming_up, text

    def answer(self) -> tuple[bool, str]:
        """True if the driver makes progress; and its activity."""
        now, activity = self.clock(), self._activity
        seconds = f"{activity.text}, for {now - activity.since:.0f} s"
        if activity.due is None or now <= activity.due:
            return True, seconds
        self._late_at = now
        return False, f"no progress: {seconds}"

    @property
    def was_late(self) -> bool:
        """True if somebody was told lately that no progress is made, and may end the driver for that."""
        return self.clock() - self._late_at <= LATELY_SECONDS
