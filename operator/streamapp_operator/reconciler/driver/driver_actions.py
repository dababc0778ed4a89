"""The actions on an app's driver, of which a reconcile takes one."""

from dataclasses import dataclass

from streamapp_operator.reconciler.facts.pod_state import PodState


@dataclass(frozen=True, slots=True)
class KeepDriver:
    """Keep the running driver; one that is silent, or on a silent node, is looked at after `seconds`."""

    pod: PodState
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class StopDriver:
    """Ask a driver to end after its batch."""

    pod: PodState
    reason: str
    grace_seconds: int | None = None  # within which it has to end; None for that of its pod


@dataclass(frozen=True, slots=True)
class AwaitPods:
    """Wait until pods are gone; check again after `seconds` at the latest."""

    message: str
    seconds: float
    lost: tuple[PodState, ...] = ()  # that are deleted by force


@dataclass(frozen=True, slots=True)
class DeleteExecutors:
    """Delete the executors of an ended driver; those in `at_once` are lost and get no grace period."""

    executors: tuple[PodState, ...]
    at_once: tuple[PodState, ...] = ()


@dataclass(frozen=True, slots=True)
class StartDriver:
    """Create the driver pod of the next incarnation, or have the standby driver of it take over."""

    incarnation: int


@dataclass(frozen=True, slots=True)
class DelayStart:
    """Wait before the next start, because the last drivers failed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class HoldStart:
    """Wait for a condition outside the driver before its start."""

    reason: str
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class NoDriver:
    """No driver is desired, and none exists."""


DriverAction = (
    KeepDriver | StopDriver | AwaitPods | DeleteExecutors | StartDriver | DelayStart | HoldStart | NoDriver
)
