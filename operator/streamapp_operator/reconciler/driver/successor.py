"""The successor of a driver: a standby driver that warms up while another one runs or ends.

The next driver takes seconds to start its JVM and Spark. Where it is known that it will be needed, it is
created before the last one has ended, and takes over when that one has released its lanes, or is gone.
"""

from dataclasses import dataclass

from streamapp_operator.reconciler.driver.driver_history import DriverHistory
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
"""How long a running driver waits for a successor that does not get ready, before it is stopped anyway."""
STANDBY_RETRY_SECONDS = 60.0
"""After this time a standby driver that ended is followed by another one, where the app always has one."""


@dataclass(frozen=True, slots=True)
class SuccessorDecision:
    """What to do about the successor."""

    incarnation: int  # of the next driver, be it a successor that is there
    standby: PodState | None = None  # the successor that is there and may take over
    start: bool = False  # whether to create it
    early_executors: bool = False  # whether its executors start before it takes over
    surplus: tuple[PodState, ...] = ()  # to be deleted
    seconds_to_wait: float | None = None  # how long the running driver waits for it; None where it does not
    retry_after: float | None = None  # when another standby follows one that ended


def decide_successor(
    desired: DesiredDriver, history: DriverHistory, observed: ObservedPods
) -> SuccessorDecision:
    """Decide whether there is to be a successor, and whether the running driver waits for it."""
    pods = observed.successors
    standby = next((pod for pod in reversed(pods) if _may_take_over(pod, desired, observed)), None)
    newest = max((incarnation_of(pod) for pod in pods), default=0)
    incarnation = (
        incarnation_of(standby) if standby else max(history.incarnation, history.successor, newest) + 1
    )
    seconds_left = _seconds_left(desired, observed)
    if not _is_needed(desired, observed):
        is_next = standby is not None and desired.run and live_driver(observed.drivers) is None
        next_driver = standby if is_next else None
        return SuccessorDecision(incarnation, next_driver, surplus=_others(pods, next_driver))
    surplus = _others(pods, standby)
    failed_pods = tuple(pod for pod in pods if _has_failed(pod, desired))
    if failed_pods and standby is None:
        retry_after = STANDBY_RETRY_SECONDS - (observed.now - max(map(_ended_at, failed_pods)))
        if desired.stop_reason or not desired.standby or retry_after > 0:
            # Where the driver ends now, the next one is no standby, and says what is wrong.
            return SuccessorDecision(incarnation, None, surplus=surplus, retry_after=max(retry_after, 0.0))
        return SuccessorDecision(incarnation, start=True, surplus=(*surplus, *failed_pods))
    if standby is None:
        # A standby that only is to be there takes no CPU from a driver that starts.
        is_due = observed.driver_works or _is_replaced(desired, observed)
        start = is_due and not any(_is_there(pod, observed.now) for pod in pods)
        has_use = desired.standby_executors or _is_replaced(desired, observed)
        early_executors = desired.early_executors and has_use
        return SuccessorDecision(incarnation, None, start, early_executors, surplus, seconds_left)
    waits = not standby.ready and not standby.trouble
    return SuccessorDecision(
        incarnation, standby, surplus=surplus, seconds_to_wait=seconds_left if waits else None
    )


def _is_needed(desired: DesiredDriver, observed: ObservedPods) -> bool:
    """Whether the driver is to be replaced, or is ending, and another one will follow."""
    if not (desired.run and desired.overlaps):
        return False
    driver = live_driver(observed.drivers)
    if driver is None:
        return bool(observed.executors)
    if driver.life is PodLifecycle.COMING:
        return False  # nothing runs that would be interrupted
    return desired.standby or _is_replaced(desired, observed)


def _is_replaced(desired: DesiredDriver, observed: ObservedPods) -> bool:
    """Whether the driver is ending, or will, so that the next one works soon, and needs executors.

    A standby that is only there in case the driver fails has none, unless the app pays for them all the time.
    """
    driver = live_driver(observed.drivers)
    if driver is None or driver.life is PodLifecycle.LEAVING or desired.stop_reason:
        return True
    return _has_lost_its_node(driver, observed) or seconds_until_hung(driver, observed) is not None


def _has_lost_its_node(driver: PodState, observed: ObservedPods) -> bool:
    """Whether a driver's node is not ready: unless it is back soon, the driver will be given up."""
    node = observed.nodes.get(driver.node)
    return node is not None and not node.answers


def _may_take_over(pod: PodState, desired: DesiredDriver, observed: ObservedPods) -> bool:
    """Whether a successor runs what is to run. A driver that still works has time for one with executors."""
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
    return pod.life is PodLifecycle.ENDED and generation_of(pod.manifest) == desired.generation


def _ended_at(pod: PodState) -> float:
    return pod.ended_at or pod.made_at


def _is_there(pod: PodState, now: float) -> bool:
    """Whether a successor that is not wanted still takes room; one that should have ended is left alone."""
    if pod.life is PodLifecycle.LEAVING:
        return pod.leaving_since is None or pod.leaving_since >= now
    return pod.life is not PodLifecycle.ENDED


def _others(pods: tuple[PodState, ...], standby: PodState | None) -> tuple[PodState, ...]:
    return tuple(
        pod for pod in pods if pod is not standby and pod.life in {PodLifecycle.COMING, PodLifecycle.LIVING}
    )


def _seconds_left(desired: DesiredDriver, observed: ObservedPods) -> float | None:
    """How long the running driver waits yet for a successor that is not ready; None where it does not."""
    seconds = WARM_UP_SECONDS - (observed.now - (desired.stop_since or observed.now))
    return seconds if seconds > 0 else None
