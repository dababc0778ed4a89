"""The next move about an app's driver. The next one starts only when nothing of the last is left.

A pod is gone when it ended, when it is not there any more, or when its node is not. Where a node does not
answer, nobody can say; after `driver.lostTimeout` the pod is given up, and the engine's fencing keeps
whatever it may still do out of the outputs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamapp_operator.driver.endings import Limits
from streamapp_operator.driver.history import History, incarnation_of
from streamapp_operator.driver.moves import Await, Clear, Idle, Keep, Move, Rest, Start, Stop
from streamapp_operator.facts.nodes import Node
from streamapp_operator.facts.pods import Life, Pod
from streamapp_operator.status.why import Why


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of the driver."""

    run: bool  # whether there is to be one
    why: str = ""  # why a driver that lives has to end: to be replaced, or for good
    grace: float = 60.0  # within which a driver that was asked to end is expected to


@dataclass(frozen=True, slots=True)
class Scene:
    """What is there."""

    drivers: Sequence[Pod]
    executors: Sequence[Pod]
    nodes: Mapping[str, Node]
    now: float
    lost_after: float


def next_move(wish: Wish, history: History, scene: Scene, limit: Limits) -> Move:
    """One move; after it the scene is looked at again."""
    here = [pod for pod in scene.drivers if pod.life is not Life.ENDED]
    if move := _strays(here):
        return move
    if here:
        return _with_driver(here[-1], wish, scene)
    if scene.executors:
        return _without_driver(scene)
    if not wish.run:
        return Idle()
    rest = _rest(history, limit) - scene.now
    return Rest(rest) if rest > 0 else Start(history.incarnation + 1)


def gives_up(pod: Pod, scene: Scene) -> float | None:
    """In how many seconds a pod counts as lost; None while its node answers."""
    node = scene.nodes.get(pod.node)
    if node is not None and node.gone:
        return 0.0
    since = [moment for moment in (pod.leaving_since, node.unready_since if node else None) if moment]
    return max(0.0, min(since) + scene.lost_after - scene.now) if since else None


def _strays(here: list[Pod]) -> Move | None:
    """There is never more than one; should somebody have made another, the newest is kept."""
    here.sort(key=incarnation_of)
    staying = [pod for pod in here if pod.life is not Life.LEAVING]
    return Stop(staying[0], Why.SUPERSEDED) if len(staying) > 1 else None


def _with_driver(pod: Pod, wish: Wish, scene: Scene) -> Move:
    left = gives_up(pod, scene)
    if left == 0.0:
        return Stop(pod, Why.NODE_LOST, at_once=True)
    if pod.life is Life.LEAVING:
        return Await(f"driver {pod.name} is ending", _look_again(left))
    if not wish.run or wish.why:
        return Stop(pod, wish.why)
    return Keep(pod)


def _without_driver(scene: Scene) -> Move:
    staying = tuple(pod for pod in scene.executors if pod.life is not Life.LEAVING)
    lost = tuple(pod for pod in scene.executors if gives_up(pod, scene) == 0.0)
    if staying or lost:
        return Clear(tuple(pod for pod in staying if pod not in lost), lost)
    return Await(
        f"{len(scene.executors)} executors of the last driver are ending", _soonest(scene.executors, scene)
    )


def _soonest(pods: Iterable[Pod], scene: Scene) -> float:
    return min(_look_again(gives_up(pod, scene)) for pod in pods)


def _look_again(left: float | None) -> float:
    return 60.0 if left is None else left + 0.1


def _rest(history: History, limit: Limits) -> float:
    """Until when the next start has to wait."""
    return history.last.at + limit.wait(history.failures) if history.last else 0.0
