"""Starts that fail: what keeps a driver and its executors from starting, and how long that may last.

A driver runs on until its successor is ready, however long that takes. So a start that has failed is told
from one that is slow: by Kubernetes' own words, with a bound for each.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from streamapp.protocol.termination import RunOutcome
from streamapp.spec.reasons import Reason
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.facts.facts import MissingExecutors, RefusedPod
from streamapp_operator.reconciler.facts.pod_state import (
    VOLUME_REASONS,
    PodLifecycle,
    PodState,
    StartReason,
)
from streamapp_operator.reconciler.facts.reported_texts import (
    ending_message,
    reported_reason,
    reported_text,
)
from streamapp_operator.reconciler.planning.pod_refusals import is_short_of_quota

TROUBLE_SECONDS: Final = 60.0
"""How long an image, a Secret or a ConfigMap may be missing: it may be on its way, as where all is applied at
once."""
UNSCHEDULABLE_SECONDS: Final = 120.0
"""How long no node may take a pod. An autoscaler of nodes takes a minute or two."""
START_SECONDS: Final = 600.0
"""How long a start may take of which nothing bad is known, as `progressDeadlineSeconds` of a Deployment."""
MOST_FAILED_STARTS: Final = 3
"""So many drivers in a row may end before they are ready, unless one says that the app has to change."""
_NEEDS_ROOM: Final = re.compile(r"Insufficient |Too many pods|conflicting PersistentVolumeClaim|free ports")
"""What the scheduler says where a pod would fit once another one has gone."""


@dataclass(frozen=True, slots=True)
class StartObstacle:
    """The obstacle that keeps a driver from getting ready."""

    reason: str
    message: str
    seconds_left: float  # until its start has failed
    needs_room: bool = False  # whether the room or the volume of the running driver may be what is missing
    is_slow: bool = False  # whether nothing is known to be wrong


def start_obstacle(
    driver: PodState,
    executors: Sequence[PodState],
    now: float,
    *,
    missing: MissingExecutors | None = None,
    not_before: float = 0.0,
    shares_volume: bool = False,
) -> StartObstacle | None:
    """The obstacle to readiness of a driver that has not ended, with its executors; None where it is ready.

    `missing` are the executors that it lacks. Before `not_before` another driver had its room.
    """
    if driver.life in {PodLifecycle.LEAVING, PodLifecycle.ENDED}:
        return None
    obstacles = [
        obstacle for pod in (driver, *executors) for obstacle in _pod_obstacles(pod, not_before, now)
    ]
    if missing is not None and missing.refused_pod is not None:
        since = max(driver.started_at or 0.0, missing.since, not_before)
        refusal = refused_start(missing.refused_pod, "an executor")
        obstacles.append(replace(refusal, seconds_left=_seconds_left(since, TROUBLE_SECONDS, now)))
    if obstacles:
        return min(obstacles, key=lambda obstacle: obstacle.seconds_left)
    if driver.ready:
        return None
    began_at = max(driver.scheduled_at or driver.made_at, not_before)
    if driver.life is PodLifecycle.COMING:
        seconds = UNSCHEDULABLE_SECONDS if shares_volume else START_SECONDS
        message = f"{driver.name} has no running container after {seconds:.0f} s: its volumes are not mounted"
        if driver.trouble:
            message = f"{message}: {reported_text(driver.trouble)}"
        seconds_left = _seconds_left(began_at, seconds, now)
        return StartObstacle(
            StartReason.CONTAINER_CREATING, message, seconds_left, shares_volume, is_slow=True
        )
    seconds_left = _seconds_left(max(driver.started_at or 0.0, began_at), START_SECONDS, now)
    reason, message = _slow_start(driver, executors)
    return StartObstacle(reason, message, seconds_left, is_slow=True)


def ending_obstacle(last: PodState, failures: int) -> StartObstacle | None:
    """Why the last one of so many drivers that ended before they were ready is not followed by another one.

    None where it is.
    """
    ending = last.ending
    reason = reported_reason(ending.reason if ending else "", ConditionReason.DRIVER_FAILED)
    is_refusal = ending is not None and ending.outcome is RunOutcome.CONFIG
    is_repeated = failures >= MOST_FAILED_STARTS and reason != Reason.SYSTEM_UNAVAILABLE
    if not (is_refusal or is_repeated):
        return None
    path = f"{reported_text(ending.path)}: " if ending and ending.path else ""
    return StartObstacle(reason, f"{last.name} ended: {path}{ending_message(ending)}", 0.0)


def refused_start(refused_pod: RefusedPod, role: str = "the driver") -> StartObstacle:
    """A start for which the API server would not take a pod."""
    needs_room = is_short_of_quota(refused_pod.message)
    return StartObstacle(refused_pod.reason, refused_pod.text(role), 0.0, needs_room)


def _pod_obstacles(pod: PodState, not_before: float, now: float) -> Iterator[StartObstacle]:
    """The obstacles that Kubernetes reports of a pod that is not there yet."""
    if not pod.trouble or pod.ready or pod.life in {PodLifecycle.LEAVING, PodLifecycle.ENDED}:
        return
    reason, _, text = pod.trouble.partition(": ")
    if reason in VOLUME_REASONS:
        return  # they are tried again, and the bound is that of a start
    is_unschedulable = reason == StartReason.UNSCHEDULABLE
    seconds = UNSCHEDULABLE_SECONDS if is_unschedulable else TROUBLE_SECONDS
    since = pod.made_at if is_unschedulable else pod.scheduled_at or pod.made_at
    yield StartObstacle(
        reason,
        reported_text(f"{pod.name} cannot start: {reason}: {text}"),
        _seconds_left(max(since, not_before), seconds, now),
        needs_room=is_unschedulable and _NEEDS_ROOM.search(text) is not None,
    )


def _slow_start(driver: PodState, executors: Sequence[PodState]) -> tuple[str, str]:
    """The reason and the message of a driver that runs and does not get ready."""
    ended = [pod for pod in executors if pod.life is PodLifecycle.ENDED]
    if ended:
        message = f"executor {ended[-1].name} ended: {ending_message(ended[-1].ending)}"
        return (
            ConditionReason.EXECUTORS_MISSING,
            f"{driver.name} is not ready after {START_SECONDS:.0f} s; {message}",
        )
    count = len(executors)
    return (
        ConditionReason.EXECUTORS_MISSING if executors else ConditionReason.DRIVER_STARTING,
        f"{driver.name} is not ready after {START_SECONDS:.0f} s, with {count} pods of executors",
    )


def _seconds_left(since: float, seconds: float, now: float) -> float:
    return max(0.0, since + seconds - now)
