"""The status when the API server would not take something: said at once, and tried again."""

from typing import Any

from streamapp_operator.controller.client.api_errors import RejectedError
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_history import DriverOutcome
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.timestamps import format_timestamp
from streamapp_operator.reconciler.status.app_condition import (
    AppCondition,
    ConditionType,
    false_condition,
    true_condition,
)
from streamapp_operator.reconciler.writes.write_execution import ForeignObject


def with_write_failure(
    status: Manifest, obstacle: ForeignObject | RejectedError, facts: Facts
) -> dict[str, Any]:
    """The status with what stands in the way."""
    before = {one["type"]: one for one in status.get("conditions") or ()}
    generation = facts.newest.generation
    if isinstance(obstacle, ForeignObject):
        reason = str(ConditionReason.NAME_TAKEN)
        text = f"{obstacle.kind} {obstacle.name} is there and belongs to somebody else; delete it, or wait"
    else:
        reason, text = (
            str(ConditionReason.LAUNCH_REJECTED),
            f"the API server refuses ({obstacle.reason}): {obstacle}",
        )
    told = (
        false_condition(ConditionType.LAUNCHED, reason, text, generation),
        true_condition(ConditionType.DEGRADED, reason, text, generation),
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
        "outcome": DriverOutcome.RETRY.value,
        "reason": reason,
        "message": text,
        "endedAt": format_timestamp(now),
    }
    return {"driver": {**driver, "failures": driver.get("failures", 0) + 1, "lastEnding": ending}}


def _replaced(
    before: dict[str, dict[str, Any]], told: tuple[AppCondition, ...], now: float
) -> list[dict[str, Any]]:
    new = {one.aspect.value: one.as_status(before, now) for one in told}
    return list({**before, **new}.values())
