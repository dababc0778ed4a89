"""The status of an app as a whole, from the findings of one reconcile."""

from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.model_content import content_hash
from streamapp.plan.partition_plan import Plan, PlanOutcome
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.reconciler.driver.driver_history import DriverHistory, history_status
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole
from streamapp_operator.reconciler.status.app_condition import AppCondition, ConditionType
from streamapp_operator.reconciler.status.conditions.condition_list import CONDITIONS
from streamapp_operator.reconciler.status.phase import phase

REASON_ORDER: Final = (
    (ConditionType.STALLED, "True"),
    (ConditionType.DEGRADED, "True"),
    (ConditionType.ACCEPTED, "Unknown"),
    (ConditionType.PLANNED, "Unknown"),
    (ConditionType.READY, "False"),
    (ConditionType.READY, "True"),
)
"""The conditions that determine the status's reason, the most important first."""


MOVED_TASKS, MOVED_HASH = "movedTasks", "movedHash"


def app_status(findings: Findings, history: DriverHistory) -> dict[str, Any]:
    """The fields of the status; unknown ones are left out."""
    facts, model = findings.facts, findings.model_in_force
    before = {condition["type"]: condition for condition in facts.app.status.get("conditions") or ()}
    conditions = [table.condition(findings) for table in CONDITIONS]
    pod = findings.driver.pod
    name = object_names.driver(facts.app.name, history.incarnation) if history.incarnation else ""
    status: dict[str, Any] = {
        "conditions": [
            replace(condition, generation=facts.run.own_generation(condition.generation)).as_status(
                before, facts.now
            )
            for condition in conditions
        ],
        "observedGeneration": facts.run.own_generation(facts.app.newest.generation),
        "acceptedGeneration": facts.run.own_generation(findings.target.generation)
        if findings.target
        else None,
        "phase": phase(findings).value,
        "reason": _reason(conditions),
        "plan": _plan(findings),
        "jobModel": _job_model(findings, model),
        "tasks": len(model.tasks) if model else _reported_tasks(findings),
        "processors": len(findings.report.binding) if findings.report else 0,
        "selector": f"{APP_LABEL}={facts.app.name},{ROLE_LABEL}={ObjectRole.EXECUTOR}",
        "autoscale": findings.autoscaling.state.as_status() if findings.autoscaling else None,
        "restarts": history.restarts,
        "driver": history_status(history, pod, name) if history.incarnation else None,
    }
    return {name: value for name, value in status.items() if value is not None}


def _reason(conditions: list[AppCondition]) -> str:
    by_type = {(condition.type, condition.status): condition for condition in conditions}
    decisive = next(
        by_type[key] for key in (*REASON_ORDER, (ConditionType.READY, "Unknown")) if key in by_type
    )
    return str(decisive.reason)


def _plan(findings: Findings) -> dict[str, Any] | None:
    generation_plan = findings.plan or (findings.acceptance.plan if findings.target is None else None)
    if generation_plan is None or generation_plan.proposal is None:
        previous_plan: dict[str, Any] | None = findings.facts.app.status.get("plan")
        return previous_plan
    plan = generation_plan.proposal.plan
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


def _job_model(findings: Findings, model: JobModel | None) -> dict[str, Any] | None:
    facts = findings.facts
    if model is None:  # not published yet, or deleted by hand: versions go on from the one that was told
        last_model: dict[str, Any] | None = facts.app.status.get("jobModel")
        return last_model
    model_hash = facts.memoized.of(
        (facts.uid, "hash"), (model,), lambda: content_hash(model), facts.cluster.partitions
    )
    return {
        "version": model.version,
        "hash": model_hash[:16],
        "configMap": object_names.job_model(findings.facts.app.name),
        "runId": model.run_id,
        **_moved_tasks(findings),
    }


def _moved_tasks(findings: Findings) -> dict[str, Any]:
    """The tasks that the driver runs elsewhere; as they were last while no driver reports any."""
    if findings.report is None or not findings.report.binding:
        before = findings.facts.app.status.get("jobModel") or {}
        return {name: before[name] for name in (MOVED_TASKS, MOVED_HASH) if name in before}
    moved = sorted(findings.report.moved.items())
    if not moved:
        return {}
    digest = blake2b(repr(moved).encode(), digest_size=8).hexdigest()
    return {MOVED_TASKS: len(moved), MOVED_HASH: digest}


def _reported_tasks(findings: Findings) -> int | None:
    """The number of tasks in the reported layout, where the driver plans for itself."""
    layout = findings.report.layout if findings.report else None
    return len(layout.changelog) if layout is not None else None
