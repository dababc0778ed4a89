"""The next action on an app's driver. A driver takes over only when no pod of the last one is waited for.

A pod is gone when it ended, when its driver has released its lanes (`released_driver`), when its object does
not exist, or when its node does not exist. While a node is not ready the pod's state is unknown; after
`driver.lostTimeout` the pod counts as lost, and the engine's fencing keeps its writes out of the outputs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_actions import (
    AwaitPods,
    DelayStart,
    DeleteExecutors,
    DriverAction,
    KeepDriver,
    NoDriver,
    StartDriver,
    StopDriver,
)
from streamapp_operator.reconciler.driver.driver_endings import RestartLimits
from streamapp_operator.reconciler.driver.driver_history import DriverHistory
from streamapp_operator.reconciler.driver.failed_start import StartObstacle
from streamapp_operator.reconciler.facts.facts import MissingExecutors
from streamapp_operator.reconciler.facts.node_state import NodeState
from streamapp_operator.reconciler.facts.pod_state import (
    PodLifecycle,
    PodState,
    incarnation_of,
    live_driver,
)

HUNG_SECONDS = 15.0
"""A driver that is silent for so long is replaced, and earlier once its successor is ready.

It is silent once three questions of its kubelet or of its standby had no good answer, which takes six to
twelve seconds. Its kubelet ends it a minute after its last answer as well, but leaves it the grace period of
its pod.
"""
HUNG_GRACE_SECONDS = 1
"""Within so long a driver that hangs has to end. It will not, and is killed then.

One that only its standby finds silent gets no time: its node may be lost, and would confirm no end.
"""


@dataclass(frozen=True, slots=True)
class DesiredDriver:
    """The desired state of the driver."""

    run: bool  # whether there is to be one
    stop_reason: str = ""  # why a running driver has to end: to be replaced, or for good
    stop_since: float | None = None  # since when that is known, if it was known before
    generation: int = 0  # that it is to run
    overlaps: bool = False  # whether the next one may start before the last one has ended
    standby: bool = False  # whether there is always to be a next one
    early_executors: bool = False  # whether executors of two drivers may be there at once
    standby_executors: bool = False  # whether the next one always has executors
    grace: float = 60.0  # seconds within which a stopped driver is expected to end
    is_edit: bool = False  # whether it is to be replaced by a generation that has not run, and may be refused
    fits_in_place: bool = False  # whether the next one's pods fit where those of this one are
    shares_volume: bool = False  # whether both mount one claim


@dataclass(frozen=True, slots=True)
class ObservedPods:
    """The app's pods and their nodes."""

    drivers: Sequence[PodState]
    executors: Sequence[PodState]
    successors: tuple[PodState, ...]
    early_executors: tuple[PodState, ...]  # those of successors
    missing_executors: Mapping[str, MissingExecutors]  # by uid of a driver
    nodes: Mapping[str, NodeState]
    now: float
    lost_after: float
    driver_works: bool = False  # whether the driver has reported batches
    refused_start: StartObstacle | None = None  # why the API server would not take a successor's pod
    silent_since: Mapping[str, float] = field(default_factory=dict)
    """By uid of a driver that fails probes, or does not answer its standby: since when that is seen."""


@dataclass(frozen=True, slots=True)
class FollowingDriver:
    """The driver that is to follow."""

    incarnation: int
    is_awaited: bool  # whether the present one runs until a successor is ready
    is_ready: bool  # whether a successor is


def next_action(
    desired: DesiredDriver,
    history: DriverHistory,
    observed: ObservedPods,
    limit: RestartLimits,
    following: FollowingDriver,
) -> DriverAction:
    """The one action to take; afterwards the pods are observed again.

    A successor that is ready takes over at once after a first failure, and from a driver that hangs.
    """
    live_drivers = [pod for pod in observed.drivers if pod.life is not PodLifecycle.ENDED]
    if action := _stop_extra_driver(live_drivers):
        return action
    if driver := live_driver(observed.drivers):
        return _with_driver(driver, desired, observed, following)
    if observed.executors:
        return _without_driver(observed)
    if not desired.run:
        return NoDriver()
    at_once = following.is_ready and history.failures <= 1
    seconds_to_wait = 0.0 if at_once else _start_not_before(history, limit) - observed.now
    if seconds_to_wait > 0:
        return DelayStart(seconds_to_wait)
    return _await_other_standbys(observed, following.incarnation) or StartDriver(following.incarnation)


def seconds_until_lost(pod: PodState, observed: ObservedPods) -> float | None:
    """In how many seconds a pod counts as lost; None while its node answers."""
    node = observed.nodes.get(pod.node)
    if node is not None and node.is_gone:
        return 0.0
    since = [moment for moment in (pod.leaving_since, node.unready_since if node else None) if moment]
    return max(0.0, min(since) + observed.lost_after - observed.now) if since else None


def seconds_until_hung(pod: PodState, observed: ObservedPods) -> float | None:
    """In how many seconds a driver is replaced that is silent; None for one that answers.

    A driver on a node that does not answer is silent as well. That one may be lost, and is waited for as long
    as its app says.
    """
    since = observed.silent_since.get(pod.uid)
    if since is None or seconds_until_lost(pod, observed) is not None:
        return None
    return max(0.0, since + HUNG_SECONDS - observed.now)


def _stop_extra_driver(live_drivers: list[PodState]) -> DriverAction | None:
    """Stop all but the newest driver, should a user have created another one."""
    live_drivers.sort(key=incarnation_of)
    not_leaving = [pod for pod in live_drivers if pod.life is not PodLifecycle.LEAVING]
    return StopDriver(not_leaving[0], ConditionReason.SUPERSEDED) if len(not_leaving) > 1 else None


def _with_driver(
    pod: PodState,
    desired: DesiredDriver,
    observed: ObservedPods,
    following: FollowingDriver,
) -> DriverAction:
    seconds_left = seconds_until_lost(pod, observed)
    if seconds_left == 0.0:
        return StopDriver(pod, ConditionReason.NODE_LOST, grace_seconds=0)
    if pod.life is PodLifecycle.LEAVING:
        return AwaitPods(f"driver {pod.name} is ending", _recheck_seconds(seconds_left))
    hung_in = seconds_until_hung(pod, observed)
    is_hung = hung_in is not None and (hung_in == 0 or following.is_ready)
    if desired.run and is_hung:
        grace_seconds = 0 if pod.silent_since is None else HUNG_GRACE_SECONDS
        return StopDriver(pod, ConditionReason.NO_PROGRESS, grace_seconds)
    if not desired.run or (desired.stop_reason and not following.is_awaited):
        return StopDriver(pod, desired.stop_reason)
    seconds = seconds_left if hung_in is None else hung_in
    return KeepDriver(pod, None if seconds is None else _recheck_seconds(seconds))


def _without_driver(observed: ObservedPods) -> DriverAction:
    not_leaving = tuple(pod for pod in observed.executors if pod.life is not PodLifecycle.LEAVING)
    lost_pods = tuple(pod for pod in observed.executors if seconds_until_lost(pod, observed) == 0.0)
    if not_leaving or lost_pods:
        return DeleteExecutors(tuple(pod for pod in not_leaving if pod not in lost_pods), lost_pods)
    return AwaitPods(
        f"{len(observed.executors)} executors of the last driver are ending",
        _soonest_recheck(observed.executors, observed),
    )


def _await_other_standbys(observed: ObservedPods, next_incarnation: int) -> DriverAction | None:
    """Wait for standby drivers that were given up: they count as drivers once a later one is announced."""
    ending = [
        pod
        for pod in observed.successors
        if incarnation_of(pod) < next_incarnation and pod.life is not PodLifecycle.ENDED
    ]
    if not ending:
        return None
    lost_pods = tuple(pod for pod in ending if seconds_until_lost(pod, observed) == 0.0)
    message = f"standby driver {ending[0].name} is ending"
    if lost_pods:
        message = f"standby driver {lost_pods[0].name}, which is not gone in time, is deleted by force"
    return AwaitPods(message, _soonest_recheck(ending, observed), lost_pods)


def _soonest_recheck(pods: Iterable[PodState], observed: ObservedPods) -> float:
    return min(_recheck_seconds(seconds_until_lost(pod, observed)) for pod in pods)


def _recheck_seconds(seconds_left: float | None) -> float:
    return 60.0 if seconds_left is None else seconds_left + 0.1


def _start_not_before(history: DriverHistory, limit: RestartLimits) -> float:
    """The earliest time of the next start."""
    return history.last.at + limit.wait(history.failures) if history.last else 0.0
