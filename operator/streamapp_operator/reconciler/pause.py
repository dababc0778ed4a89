"""Pausing an app: the operator leaves it as it is until the annotation is gone."""

from typing import Any, Final

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.status.app_condition import ConditionType, true_condition

PAUSE_ANNOTATION: Final = "streamapp.dev/pause-reconciliation"
"""Set to `true` on a StreamApp, it pauses the app's reconciliation."""


def is_paused(app: Manifest) -> bool:
    """True if the app's reconciliation is paused."""
    annotations: dict[str, str] = app["metadata"].get("annotations") or {}
    return annotations.get(PAUSE_ANNOTATION) == "true"


def paused_status(app: Manifest, now: float) -> dict[str, Any]:
    """The last status with the condition. All else stays as it was seen last, `observedGeneration` too."""
    status: dict[str, Any] = app.get("status") or {}
    before = {condition["type"]: condition for condition in status.get("conditions") or ()}
    condition = true_condition(
        ConditionType.RECONCILIATION_PAUSED,
        ConditionReason.RECONCILIATION_PAUSED,
        f"the annotation {PAUSE_ANNOTATION} is set; the other conditions keep their last values",
        app["metadata"]["generation"],
    )
    conditions = before | {condition.type.value: condition.as_status(before, now)}
    reason = ConditionReason.RECONCILIATION_PAUSED.value
    return {**status, "reason": reason, "conditions": list(conditions.values())}
