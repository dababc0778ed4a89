"""What can be done about an app's driver: one of these at a time."""

from dataclasses import dataclass

from streamapp_operator.reconciler.facts.pod_state import PodState


@dataclass(frozen=True, slots=True)
class KeepDriver:
    """The driver that lives is the one that is wanted."""

    pod: PodState


@dataclass(frozen=True, slots=True)
class StopDriver:
    """Ask a driver to end after its batch; without grace where nobody can ask it any more."""

    pod: PodState
    why: str
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class AwaitPods:
    """Something has to be gone first; look again then, or after so many seconds."""

    what: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DeleteExecutors:
    """Take away what a driver that ended has left: executors, and those that nobody can ask any more."""

    executors: tuple[PodState, ...]
    at_once: tuple[PodState, ...] = ()


@dataclass(frozen=True, slots=True)
class StartDriver:
    """Make the driver pod of the next incarnation."""

    incarnation: int


@dataclass(frozen=True, slots=True)
class DelayStart:
    """Wait before the next start, because the last ones failed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class HoldStart:
    """A driver is wanted, and cannot be started before something outside is as it has to be."""

    reason: str
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class NoDriver:
    """No driver is wanted, and none is there."""


DriverAction = (
    KeepDriver | StopDriver | AwaitPods | DeleteExecutors | StartDriver | DelayStart | HoldStart | NoDriver
)
