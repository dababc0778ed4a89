"""What a schedule consists of, and how Hypothesis makes one up."""

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.harness.schedules.fault_points import (
    DRIVER_POINTS,
    LANE_POINTS,
    FaultKind,
    FaultPoint,
)

DRIVERS: Final = 3
LANES: Final = 2


@dataclass(frozen=True, slots=True)
class Feed:
    """Records are written to the input."""

    records: int


@dataclass(frozen=True, slots=True)
class StartDriver:
    """Another driver starts; those before are not told."""


@dataclass(frozen=True, slots=True)
class StepDriver:
    """A driver runs a batch, if it lives and is not at one."""

    driver: int
    looks: bool = False


@dataclass(frozen=True, slots=True)
class TryBatch:
    """A driver has its lanes try a batch of which nothing is to be committed."""

    driver: int


@dataclass(frozen=True, slots=True)
class Arm:
    """A fault waits for a driver, or for one of its lanes."""

    driver: int
    lane: int | None
    point: FaultPoint
    kind: FaultKind


@dataclass(frozen=True, slots=True)
class WakeOne:
    """Who has slept longest goes on."""


@dataclass(frozen=True, slots=True)
class TakeProcessor:
    """A processor of a driver is away when it binds next; its tasks move."""

    driver: int
    lane: int


@dataclass(frozen=True, slots=True)
class ReturnProcessors:
    """The processors of a driver are back."""

    driver: int


@dataclass(frozen=True, slots=True)
class MisplaceLane:
    """A lane comes to another executor than its own at the next binding."""

    driver: int
    lane: int


@dataclass(frozen=True, slots=True)
class PickFolder:
    """Which folder of stores the next executor gets: one of those that are free, or a new one."""

    index: int


ScheduleStep = (
    Feed
    | StartDriver
    | StepDriver
    | TryBatch
    | Arm
    | WakeOne
    | TakeProcessor
    | ReturnProcessors
    | MisplaceLane
    | PickFolder
)
Schedule = tuple[ScheduleStep, ...]


_drivers = st.integers(0, DRIVERS - 1)
_lanes = st.integers(0, LANES - 1)
_lane_faults = st.builds(Arm, _drivers, _lanes, st.sampled_from(LANE_POINTS), st.sampled_from(FaultKind))
_driver_faults = st.builds(Arm, _drivers, st.none(), st.sampled_from(DRIVER_POINTS), st.just(FaultKind.HOLD))
_steps_of_drivers = st.builds(StepDriver, _drivers, st.booleans())
_rare: SearchStrategy[ScheduleStep] = st.one_of(
    st.builds(StartDriver),
    st.builds(TryBatch, _drivers),
    st.builds(TakeProcessor, _drivers, _lanes),
    st.builds(ReturnProcessors, _drivers),
    st.builds(MisplaceLane, _drivers, _lanes),
    st.builds(PickFolder, st.integers(0, 3)),
)
STEPS: Final[SearchStrategy[ScheduleStep]] = st.one_of(
    st.builds(Feed, st.integers(1, 8)),
    _steps_of_drivers,
    _steps_of_drivers,
    _lane_faults,
    _lane_faults,
    _driver_faults,
    st.builds(WakeOne),
    _rare,
)


def schedules(most: int = 40) -> SearchStrategy[Schedule]:
    """Schedules of so many steps at most, after a first driver has started and there is something to read."""
    return st.lists(STEPS, min_size=8, max_size=most).map(
        lambda steps: (Feed(6), StartDriver(), StepDriver(0), *steps)
    )
