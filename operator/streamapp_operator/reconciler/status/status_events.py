"""What changed, as Events: one for each condition that says something else than before."""

from collections.abc import Iterator, Mapping
from typing import Any

from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.status.app_condition import ConditionType
from streamapp_operator.reconciler.writes.reconcile_decision import EventType, StatusEvent

_TOLD: Mapping[tuple[ConditionType, str], EventType] = {
    (ConditionType.ACCEPTED, "True"): "Normal",
    (ConditionType.ACCEPTED, "False"): "Warning",
    (ConditionType.PLANNED, "Unknown"): "Warning",
    (ConditionType.READY, "True"): "Normal",
    (ConditionType.PROGRESSING, "True"): "Normal",
    (ConditionType.DEGRADED, "True"): "Warning",
    (ConditionType.STALLED, "True"): "Warning",
    (ConditionType.SUSPENDED, "True"): "Normal",
}
"""What is worth an event when a condition comes to say it."""
_ON_THE_WAY = {ConditionReason.NOT_PLANNED_YET, ConditionReason.NOT_ACCEPTED}
"""Reasons that say no more than that something else comes first."""


def status_events(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[StatusEvent]:
    """The events between two statuses."""
    old = {one["type"]: one for one in before.get("conditions") or ()}
    told: set[str] = set()
    for new in after["conditions"]:
        was = old.get(new["type"])
        if was is not None and (was["status"], was["reason"]) == (new["status"], new["reason"]):
            continue
        type_ = _TOLD.get((ConditionType(new["type"]), new["status"]))
        if type_ is None or new["reason"] in _ON_THE_WAY or new["message"] in told:
            continue
        if new["type"] == ConditionType.STALLED and new["reason"] in told:
            continue  # the condition about the resource itself has told it
        told |= {new["reason"], new["message"]}
        yield StatusEvent(type_, new["reason"], new["message"])
