"""The successor of a driver: a standby driver that warms up while another one runs or ends.

The next driver takes seconds to start its JVM and Spark. Where it is known that it will be needed, it is
created before the last one has ended, and takes over when that one has released its lanes, or is gone. A
driver that works is not ended before its successor is ready, and not at all for one that cannot start.
"""

from dataclasses import dataclass, replace

from streamapp_operator.reconciler.driver.driver_endings import RestartLimits
from streamapp_operator.reconciler.driver.driver_history import DriverHistory
from streamapp_operator.reconciler.driver.failed_start import (
    MOST_FAILED_STARTS,
    StartObstacle,
    ending_obstacle,
    start_obstacle,
)
from streamapp_operator.reconciler.driver.next_action import (
    DesiredDriver,
    ObservedPods,
    seconds_until_hung,
)
from streamapp_operator.reconciler.facts.pod_state import (
    PodLifecycle,
    PodState,
    incarnation_of,
    live_driver,
)
from streamapp_operator.reconciler.pods.driver_pod import generation_of, has_early_executors

WARM_UP_SECONDS = 120.0
"""How long a driver that does no work waits for its successor. One that works waits without an end."""
STANDBY_RETRY_SECONDS = 60.0
"""After this time a standby driver that ended is followed by another one, where the app always has one."""


@dataclass(frozen=True, slots=True)
class SuccessorDecision:
    """The decision about the successor."""

    incarnation: int  # of the next driver, be it a successor that is there
    standby: PodState | None = None  # the successor that is there and may take over
    start: bool = False  # whether to create it
    early_executors: bool = False  # whether its executors start before it takes over
    surplus: tuple[PodState, ...] = ()  # to be deleted
    is_awaited: bool = False  # whether the running driver runs on until it is ready
    obstacle: StartObstacle | None = None  # what keeps it from getting ready
    look_after: float | None = None  # when it is to be looked at again

    @property
    def failure(self) -> StartObstacle | None:
        """Why it will never be ready; None while it may be."""
        has_failed = self.is_awaited and self.obstacle is not None and self.obstacle.seconds_left == 0
        return self.obstacle if has_failed else None


def decide_successor(
    desired: DesiredDriver, history: DriverHistory, observed: ObservedPods, limit: RestartLimits
) -> SuccessorDecision:
    """Decide whether there is to be a successor, and whether the running driver waits for it."""
    pods = observed.successors
    standby = next((pod for pod in reversed(pods) if _may_take_over(pod, desired, observed)), None)
    newest = max((incarnation_of(pod) for pod in pods), default=0)
    incarnation = (
        incarnation_of(standby) if standby else max(history.incarnation, history.successor, newest) + 1
    )
    surplus = _others(pods, standby, desired)
    if not _is_needed(desired, observed):
        is_next = standby is not None and desired.run and live_driver(observed.drivers) is None
        next_driver = standby if is_next else None
        return SuccessorDecision(incarnation, next_driver, surplus=_others(pods, next_driver, desired))
    if observed.refused_start is not None:
        return _awaited(SuccessorDecision(incarnation, None, surplus=surplus), desired, observed)
    failed_pods = tuple(pod for pod in pods if _has_failed(pod, desired))
    if failed_pods and standby is None:
        return _after_failures(incarnation, failed_pods, surplus, desired, observed, limit)
    if standby is None:
        return _awaited(_new_successor(incarnation, surplus, desired, observed), desired, observed)
    return _awaited(SuccessorDecision(incarnation, standby, surplus=surplus), desired, observed)


def _new_successor(
    incarnation: int, surplus: tuple[PodState, ...], desired: DesiredDriver, observed: ObservedPods
) -> SuccessorDecision:
    # A standby that only is to be there takes no CPU from a driver that starts.
    is_due = observed.driver_works or _is_replaced(desired, observed)
    start = is_due and not any(_is_there(pod, observed.now) for pod in observed.successors)
    has_use = desired.standby_executors or _is_replaced(desired, observed)
    return SuccessorDecision(incarnation, None, start, desired.early_executors and has_use, surplus)


def _after_failures(
    incarnation: int,
    failed_pods: tuple[PodState, ...],
    surplus: tuple[PodState, ...],
    desired: DesiredDriver,
    observed: ObservedPods,
    limit: RestartLimits,
) -> SuccessorDecision:
    """Another one follows those that ended, after a while, unless they have ended for good."""
    if desired.stop_reason and not observed.driver_works:
        # Where the driver ends now, the next one is no standby, and says what is wrong.
        return SuccessorDecision(incarnation, None, surplus=surplus)
    obstacle = ending_obstacle(failed_pods[-1], len(failed_pods)) if desired.stop_reason else None
    seconds = limit.wait(len(failed_pods)) if desired.stop_reason and not obstacle else STANDBY_RETRY_SECONDS
    retry_after = seconds - (observed.now - max(map(_ended_at, failed_pods)))
    if retry_after > 0 or (obstacle is not None and desired.is_edit):
        decision = SuccessorDecision(incarnation, None, surplus=surplus)
        decision = replace(decision, obstacle=obstacle, look_after=max(retry_after, 0.0) or None)
        return replace(decision, is_awaited=bool(desired.stop_reason))
    if len(failed_pods) >= MOST_FAILED_STARTS or not desired.stop_reason:
        surplus = (*surplus, *failed_pods)
    decision = _new_successor(incarnation, surplus, desired, observed)
    return replace(decision, is_awaited=bool(desired.stop_reason), obstacle=obstacle)


def _awaited(
    decision: SuccessorDecision, desired: DesiredDriver, observed: ObservedPods
) -> SuccessorDecision:
    """The decision with whether the running driver waits for the successor, and what that waits for."""
    standby, obstacle = decision.standby, observed.refused_start
    if standby is not None:
        obstacle = start_obstacle(
            standby,
            [pod for pod in observed.early_executors if pod.owner_pod == standby.uid],
            observed.now,
            missing=None if standby.ready else observed.missing_executors.get(standby.uid),
            shares_volume=desired.shares_volume,
        )
        if obstacle is None and standby.ready:
            return decision
    decision = replace(decision, obstacle=obstacle, look_after=(obstacle and obstacle.seconds_left) or None)
    if not desired.stop_reason:
        return decision
    if not observed.driver_works:
        seconds_left = _seconds_left(desired, observed)
        has_trouble = standby.trouble if standby is not None else obstacle is not None
        if has_trouble or seconds_left is None:
            return decision
        return replace(decision, is_awaited=True, look_after=seconds_left)
    needs_room = obstacle is not None and obstacle.seconds_left == 0 and obstacle.needs_room
    if needs_room and (desired.fits_in_place or desired.shares_volume):
        return decision  # the two cannot stand side by side: what the driver has is the successor's
    return replace(decision, is_awaited=True)


def _is_needed(desired: DesiredDriver, observed: ObservedPods) -> bool:
    """True if the driver is to be replaced, or is ending, and another one will follow."""
    if not (desired.run and desired.overlaps):
        return False
    driver = live_driver(observed.drivers)
    if driver is None:
        return bool(observed.executors)
    if driver.life is PodLifecycle.COMING:
        return False  # nothing runs that would be interrupted
    return desired.standby or _is_replaced(desired, observed)


def _is_replaced(desired: DesiredDriver, observed: ObservedPods) -> bool:
    """True if the driver is ending, or will, so that the next one works soon, and needs executors.

    A standby that is only there in case the driver fails has none, unless the app pays for them all the time.
    """
    driver = live_driver(observed.drivers)
    if driver is None or driver.life is PodLifecycle.LEAVING or desired.stop_reason:
        return True
    return _has_lost_its_node(driver, observed) or seconds_until_hung(driver, observed) is not None


def _has_lost_its_node(driver: PodState, observed: ObservedPods) -> bool:
    """True if a driver's node is not ready: unless it is back soon, the driver will be given up."""
    node = observed.nodes.get(driver.node)
    return node is not None and not node.answers


def _may_take_over(pod: PodState, desired: DesiredDriver, observed: ObservedPods) -> bool:
    """True if a successor runs what is to run. A driver that still works has time for one with executors."""
    is_alive = pod.life in {PodLifecycle.COMING, PodLifecycle.LIVING}
    driver = live_driver(observed.drivers)
    is_working = driver is not None and driver.life is PodLifecycle.LIVING
    has_time = desired.early_executors and is_working and bool(desired.stop_reason)
    return (
        is_alive
        and generation_of(pod.manifest) == desired.generation
        and (has_early_executors(pod.manifest) or not has_time)
    )


def _has_failed(pod: PodState, desired: DesiredDriver) -> bool:
    """True if a successor ended by itself; one that Kubernetes took away says nothing of its generation."""
    has_ended = pod.life is PodLifecycle.ENDED and not pod.displaced
    return has_ended and generation_of(pod.manifest) == desired.generation


def _ended_at(pod: PodState) -> float:
    return pod.ended_at or pod.made_at


def _is_there(pod: PodState, now: float) -> bool:
    """True if a successor that is not wanted still takes room; one that should have ended is left alone."""
    if pod.life is PodLifecycle.LEAVING:
        return pod.leaving_since is None or pod.leaving_since >= now
    return pod.life is not PodLifecycle.ENDED


def _others(
    pods: tuple[PodState, ...], standby: PodState | None, desired: DesiredDriver
) -> tuple[PodState, ...]:
    """The successors that are taken away: all but the next one, and those whose failures count."""
    return tuple(
        pod
        for pod in pods
        if pod is not standby and pod.life is not PodLifecycle.LEAVING and not _has_failed(pod, desired)
    )


def _seconds_left(desired: DesiredDriver, observed: ObservedPods) -> float | None:
    """The seconds that a driver that does no work still waits for its successor; None where it does not."""
    seconds = WARM_UP_SECONDS - (observed.now - (desired.stop_since or observed.now))
    return seconds if seconds > 0 else None
