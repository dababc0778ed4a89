"""The next move about an app's driver. The next one starts only when nothing of the last is left.

A pod is gone when it ended, when it is not there any more, or when its node is not. Where a node does not
answer, nobody can say; after `driver.lostTimeout` the pod is given up, and the engine's fencing keeps
whatever it may still do out of the outputs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
from streamapp_operator.reconciler.facts.node_state import NodeState
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState, incarnation_of


@dataclass(frozen=True, slots=True)
class DesiredDriver:
    """What is wanted of the driver."""

    run: bool  # whether there is to be one
    why: str = ""  # why a driver that lives has to end: to be replaced, or for good
    grace: float = 60.0  # within which a driver that was asked to end is expected to


@dataclass(frozen=True, slots=True)
class ObservedPods:
    """What is there."""

    drivers: Sequence[PodState]
    executors: Sequence[PodState]
    nodes: Mapping[str, NodeState]
    now: float
    lost_after: float


def next_action(
    wish: DesiredDriver, history: DriverHistory, scene: ObservedPods, limit: RestartLimits
) -> DriverAction:
    """One move; after it the scene is looked at again."""
    here = [pod for pod in scene.drivers if pod.life is not PodLifecycle.ENDED]
    if move := _strays(here):
        return move
    if here:
        return _with_driver(here[-1], wish, scene)
    if scene.executors:
        return _without_driver(scene)
    if not wish.run:
        return NoDriver()
    rest = _rest(history, limit) - scene.now
    return DelayStart(rest) if rest > 0 else StartDriver(history.incarnation + 1)


def seconds_until_lost(pod: PodState, scene: ObservedPods) -> float | None:
    """In how many seconds a pod counts as lost; None while its node answers."""
    node = scene.nodes.get(pod.node)
    if node is not None and node.gone:
        return 0.0
    since = [moment for moment in (pod.leaving_since, node.unready_since if node else None) if moment]
    return max(0.0, min(since) + scene.lost_after - scene.now) if since else None


def _strays(here: list[PodState]) -> DriverAction | None:
    """There is never more than one; should somebody have made another, the newest is kept."""
    here.sort(key=incarnation_of)
    staying = [pod for pod in here if pod.life is not PodLifecycle.LEAVING]
    return StopDriver(staying[0], ConditionReason.SUPERSEDED) if len(staying) > 1 else None


def _with_driver(pod: PodState, wish: DesiredDriver, scene: ObservedPods) -> DriverAction:
    left = seconds_until_lost(pod, scene)
    if left == 0.0:
        return StopDriver(pod, ConditionReason.NODE_LOST, at_once=True)
    if pod.life is PodLifecycle.LEAVING:
        return AwaitPods(f"driver {pod.name} is ending", _look_again(left))
    if not wish.run or wish.why:
        return StopDriver(pod, wish.why)
    return KeepDriver(pod)


def _without_driver(scene: ObservedPods) -> DriverAction:
    staying = tuple(pod for pod in scene.executors if pod.life is not PodLifecycle.LEAVING)
    lost = tuple(pod for pod in scene.executors if seconds_until_lost(pod, scene) == 0.0)
    if staying or lost:
        return DeleteExecutors(tuple(pod for pod in staying if pod not in lost), lost)
    return AwaitPods(
        f"{len(scene.executors)} executors of the last driver are ending", _soonest(scene.executors, scene)
    )


def _soonest(pods: Iterable[PodState], scene: ObservedPods) -> float:
    return min(_look_again(seconds_until_lost(pod, scene)) for pod in pods)


def _look_again(left: float | None) -> float:
    return 60.0 if left is None else left + 0.1


def _rest(history: DriverHistory, limit: RestartLimits) -> float:
    """Until when the next start has to wait."""
    return history.last.at + limit.wait(history.failures) if history.last else 0.0
