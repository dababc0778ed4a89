"""Events about changes of the status: one for each condition whose status or reason changed."""

from collections.abc import Iterator, Mapping
from typing import Any

from streamapp.plan.render.wording import listed
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.facts.reported_texts import reported_text
from streamapp_operator.reconciler.status.app_condition import ConditionType
from streamapp_operator.reconciler.status.app_status import MOVED_HASH
from streamapp_operator.reconciler.writes.reconcile_decision import EventType, StatusEvent

_EVENT_TYPES: Mapping[tuple[ConditionType, str], EventType] = {
    (ConditionType.ACCEPTED, "True"): "Normal",
    (ConditionType.ACCEPTED, "False"): "Warning",
    (ConditionType.PLANNED, "Unknown"): "Warning",
    (ConditionType.READY, "True"): "Normal",
    (ConditionType.READY, "Unknown"): "Warning",
    (ConditionType.PROGRESSING, "True"): "Normal",
    (ConditionType.DEGRADED, "True"): "Warning",
    (ConditionType.STALLED, "True"): "Warning",
    (ConditionType.SUSPENDED, "True"): "Normal",
    (ConditionType.CONFIGURATION_OUTDATED, "True"): "Normal",
    (ConditionType.RECONCILIATION_PAUSED, "True"): "Normal",
}
"""The statuses of conditions that cause an event, with its type."""
PRELIMINARY_REASONS = {ConditionReason.NOT_PLANNED_YET, ConditionReason.NOT_ACCEPTED}
"""Reasons that only refer to an earlier step."""

_MOST_NAMED_TASKS = 5
"""How many are named where some run elsewhere."""


def move_events(
    before: Mapping[str, Any], after: Mapping[str, Any], moved: Mapping[str, str]
) -> Iterator[StatusEvent]:
    """An event where other tasks than before run elsewhere than the job model says; `moved` says where."""
    hash_before = (before.get("jobModel") or {}).get(MOVED_HASH)
    hash_after = (after.get("jobModel") or {}).get(MOVED_HASH)
    if hash_before == hash_after:
        return
    if hash_after is None:
        message = "every task runs on the processor that the job model gives it"
        yield StatusEvent("Normal", ConditionReason.TASKS_RETURNED, message)
        return
    message = f"moved, since the processor of the job model is missing: {named_moves(moved)}"
    yield StatusEvent("Normal", ConditionReason.TASKS_MOVED, reported_text(message))


def named_moves(moved: Mapping[str, str]) -> str:
    """The first tasks that run elsewhere, with where, and how many more there are."""
    return listed([f"{task} to {processor}" for task, processor in sorted(moved.items())], _MOST_NAMED_TASKS)


def status_events(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[StatusEvent]:
    """The events between two statuses."""
    previous_conditions = {condition["type"]: condition for condition in before.get("conditions") or ()}
    reported: set[str] = set()
    for condition_now in after["conditions"]:
        previous = previous_conditions.get(condition_now["type"])
        if previous is not None and (previous["status"], previous["reason"]) == (
            condition_now["status"],
            condition_now["reason"],
        ):
            continue
        type_ = _EVENT_TYPES.get((ConditionType(condition_now["type"]), condition_now["status"]))
        if (
            type_ is None
            or condition_now["reason"] in PRELIMINARY_REASONS
            or condition_now["message"] in reported
        ):
            continue
        if condition_now["type"] == ConditionType.STALLED and condition_now["reason"] in reported:
            continue  # the condition Accepted has reported it
        reported |= {condition_now["reason"], condition_now["message"]}
        yield StatusEvent(type_, condition_now["reason"], condition_now["message"])
