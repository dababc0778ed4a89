"""The status when the API server would not take something: said at once, and tried again."""

from typing import Any

from streamapp_operator.carrying import Foreign
from streamapp_operator.cluster.answers import RejectedError
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.driver.history import Ended
from streamapp_operator.facts.facts import Facts
from streamapp_operator.facts.times import written
from streamapp_operator.status.condition import Aspect, Condition, fails, holds
from streamapp_operator.status.why import Why


def with_obstacle(status: Manifest, obstacle: Foreign | RejectedError, facts: Facts) -> dict[str, Any]:
    """The status with what stands in the way."""
    before = {one["type"]: one for one in status.get("conditions") or ()}
    generation = facts.newest.generation
    if isinstance(obstacle, Foreign):
        reason = str(Why.NAME_TAKEN)
        text = f"{obstacle.kind} {obstacle.name} is there and belongs to somebody else; delete it, or wait"
    else:
        reason, text = str(Why.LAUNCH_REJECTED), f"the API server refuses ({obstacle.reason}): {obstacle}"
    told = (
        fails(Aspect.LAUNCHED, reason, text, generation),
        holds(Aspect.DEGRADED, reason, text, generation),
    )
    return {
        **status,
        **_not_made(status, reason, text, facts.now),
        "conditions": [*_replaced(before, told, facts.now)],
        "observedGeneration": status.get("observedGeneration", generation),
    }


def _not_made(status: Manifest, reason: str, text: str, now: float) -> dict[str, Any]:
    """A driver that was announced and could not be made counts as one that failed: the next one waits."""
    driver: dict[str, Any] = status.get("driver") or {}
    number = driver.get("incarnation", 0)
    if not number or driver.get("uid") or (driver.get("lastEnding") or {}).get("incarnation") == number:
        return {}
    ending = {
        "incarnation": number,
        "generation": driver.get("generation", 0),
        "outcome": Ended.RETRY.value,
        "reason": reason,
        "message": text,
        "endedAt": written(now),
    }
    return {"driver": {**driver, "failures": driver.get("failures", 0) + 1, "lastEnding": ending}}


def _replaced(
    before: dict[str, dict[str, Any]], told: tuple[Condition, ...], now: float
) -> list[dict[str, Any]]:
    new = {one.aspect.value: one.as_status(before, now) for one in told}
    return list({**before, **new}.values())
