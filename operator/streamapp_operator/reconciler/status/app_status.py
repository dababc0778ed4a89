"""The status of an app as a whole, from the findings of one reconcile."""

from hashlib import blake2b
from typing import Any

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.model_content import content_hash
from streamapp.plan.partition_plan import Plan, PlanOutcome
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.reconciler.driver.driver_history import DriverHistory, history_status
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole
from streamapp_operator.reconciler.status.app_condition import AppCondition, ConditionType
from streamapp_operator.reconciler.status.conditions import CONDITIONS
from streamapp_operator.reconciler.status.phase import phase

_MATTERS = (
    (ConditionType.STALLED, "True"),
    (ConditionType.DEGRADED, "True"),
    (ConditionType.ACCEPTED, "Unknown"),
    (ConditionType.PLANNED, "Unknown"),
    (ConditionType.READY, "False"),
    (ConditionType.READY, "True"),
)
"""The conditions that matter most, first."""


def app_status(view: Findings, history: DriverHistory, model: JobModel | None) -> dict[str, Any]:
    """All that is told; what is not known is left out."""
    facts = view.facts
    before = {one["type"]: one for one in facts.status.get("conditions") or ()}
    conditions = [condition(view) for condition in CONDITIONS]
    pod = view.driving.pod
    name = object_names.driver(facts.name, history.incarnation) if history.incarnation else ""
    found: dict[str, Any] = {
        "conditions": [condition.as_status(before, facts.now) for condition in conditions],
        "observedGeneration": facts.newest.generation,
        "acceptedGeneration": view.target.generation if view.target else None,
        "phase": phase(view).value,
        "reason": _reason(conditions),
        "plan": _plan(view),
        "jobModel": _job_model(view, model),
        "tasks": len(model.tasks) if model else _reported_tasks(view),
        "processors": len(view.report.binding) if view.report else 0,
        "selector": f"{APP_LABEL}={facts.name},{ROLE_LABEL}={ObjectRole.EXECUTOR}",
        "restarts": history.restarts,
        "driver": history_status(history, pod, name) if history.incarnation else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _reason(conditions: list[AppCondition]) -> str:
    by_aspect = {(one.aspect, one.status): one for one in conditions}
    found = next(by_aspect[key] for key in (*_MATTERS, (ConditionType.READY, "Unknown")) if key in by_aspect)
    return str(found.reason)


def _plan(view: Findings) -> dict[str, Any] | None:
    authored = view.authored or (view.acceptance.authored if view.target is None else None)
    if authored is None or authored.proposal is None:
        before: dict[str, Any] | None = view.facts.status.get("plan")
        return before
    plan = authored.proposal.plan
    return {
        "outcome": "accepted" if plan.outcome is PlanOutcome.ACCEPTED else "rejected",
        "streams": len(plan.streams),
        "joins": len(plan.joins),
        "hash": plan_hash(plan),
    }


def plan_hash(plan: Plan) -> str:
    """Changes when a stream's count or a join's group does."""
    counts = sorted((name, stream.partitions) for name, stream in plan.streams.items())
    joins = sorted((join.operator, join.streams, join.partitions) for join in plan.joins)
    return blake2b(repr((counts, joins)).encode(), digest_size=8).hexdigest()


def _job_model(view: Findings, model: JobModel | None) -> dict[str, Any] | None:
    if model is None:
        return None
    facts = view.facts
    content = facts.worked.of((facts.uid, "hash"), (model,), lambda: content_hash(model))
    return {
        "version": model.version,
        "hash": content[:16],
        "configMap": object_names.job_model(view.facts.name),
        "runId": model.run_id,
    }


def _reported_tasks(view: Findings) -> int | None:
    """Where the driver is the author: the tasks of the layout that it reports."""
    layout = view.report.layout if view.report else None
    return len(layout.changelog) if layout is not None else None
