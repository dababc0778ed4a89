"""The lanes of a model and who is at them: mustered before the first batch, and looked after from then on."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from streamapp_runtime.driver.batches import retry
from streamapp_runtime.driver.batches.run_change import RunChange, lanes_changed
from streamapp_runtime.driver.executors.lane_assignment import LaneAssignment, Lanes
from streamapp_runtime.driver.executors.lane_executors import LaneExecutors
from streamapp_runtime.driver.start.launch import Launch


@dataclass(slots=True)
class LaneSupervisor:
    """One model's lanes."""

    crew: LaneExecutors
    launch: Launch
    first: float  # how long executors are waited for at the start
    delay: float  # seconds that tasks wait for a processor that is lost
    changed: Callable[[RunChange], None]  # hears when processors are missing, or back
    lanes: Lanes = field(init=False)  # those that are manned now
    roster: LaneAssignment = field(init=False)
    _told: Lanes = field(init=False)
    _looked: float = 0.0

    def __post_init__(self) -> None:
        self.lanes = self._told = self.launch.lanes
        self.roster = LaneAssignment(self.launch.lanes, self.launch.placed, self.delay, time.monotonic)

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks of the lanes that are manned."""
        return frozenset(task for tasks in self.lanes.values() for task in tasks)

    def man(self) -> bool:
        """See who is there, and give the tasks of those who are not to others when it is time.

        Whether tasks run elsewhere than before.
        """
        seconds = 0.0  # for those who are missing already
        if self.roster.complete:
            seconds = min(retry.GRACE_SECONDS, self.delay) if self.crew.bound else self.first
        lanes = self.roster.lanes(self.crew.muster(tuple(self.launch.lanes), seconds))
        self._looked = time.monotonic()
        if lanes == self.lanes:
            return False
        self.lanes, was, self._told = lanes, self._told, self.roster.assigned
        self.changed(lanes_changed(self.launch, was, self.roster))
        return True

    def stale(self) -> bool:
        """While processors are missing: whether one is back, or has been waited for long enough."""
        if self.roster.complete or time.monotonic() - self._looked < retry.LOOK_SECONDS:
            return False
        self._looked = time.monotonic()
        return self.roster.lanes(self.crew.present(tuple(self.launch.lanes))) != self.lanes

    def assemble(self, incarnation: int) -> DataFrame:
        """What every batch runs from now on."""
        return self.crew.assemble(tuple(self.lanes), incarnation)

    def binding(self) -> dict[str, str]:
        """The executor of each processor that is there; none where lanes run in the driver's own process."""
        return {name: self.crew.bound[name] for name in self.lanes if name in self.crew.bound}

    def executors(self) -> tuple[str, ...]:
        """The executors that the model still needs."""
        return tuple(self.crew.bound[name] for name in self.launch.lanes if name in self.crew.bound)
