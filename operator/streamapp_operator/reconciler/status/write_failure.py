"""The status after a refused write: reported at once, while the write is retried."""

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
    status: Manifest, failure: ForeignObject | RejectedError, facts: Facts
) -> dict[str, Any]:
    """The status with the failure of a write."""
    before = {condition["type"]: condition for condition in status.get("conditions") or ()}
    generation = facts.run.own_generation(facts.app.newest.generation)
    if isinstance(failure, ForeignObject):
        reason = str(ConditionReason.NAME_TAKEN)
        text = f"{failure.kind} {failure.name} exists and belongs to another owner; delete it, or wait"
    else:
        reason, text = (
            str(ConditionReason.LAUNCH_REJECTED),
            f"the API server refuses ({failure.reason}): {failure}",
        )
    failed_conditions = (
        false_condition(ConditionType.LAUNCHED, reason, text, generation),
        true_condition(ConditionType.DEGRADED, reason, text, generation),
    )
    return {
        **status,
        **_failed_start(status, reason, text, facts.now),
        "conditions": [*_merged(before, failed_conditions, facts.now)],
        "observedGeneration": status.get("observedGeneration", generation),
    }


def _failed_start(status: Manifest, reason: str, text: str, now: float) -> dict[str, Any]:
    """An announced driver that could not be created counts as failed, so that the next one waits."""
    driver: dict[str, Any] = status.get("driver") or {}
    incarnation = driver.get("incarnation", 0)
    if (
        not incarnation
        or driver.get("uid")
        or (driver.get("lastEnding") or {}).get("incarnation") == incarnation
    ):
        return {}
    ending = {
        "incarnation": incarnation,
        "generation": driver.get("generation", 0),
        "outcome": DriverOutcome.RETRY.value,
        "reason": reason,
        "message": text,
        "endedAt": format_timestamp(now),
    }
    return {"driver": {**driver, "failures": driver.get("failures", 0) + 1, "lastEnding": ending}}


def _merged(
    before: dict[str, dict[str, Any]], conditions: tuple[AppCondition, ...], now: float
) -> list[dict[str, Any]]:
    updated = {condition.type.value: condition.as_status(before, now) for condition in conditions}
    return list({**before, **updated}.values())
