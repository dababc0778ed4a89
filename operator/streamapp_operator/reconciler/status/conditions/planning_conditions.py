"""The conditions `Accepted` and `Planned`: of the newest generation, whether it runs or not."""

from typing import Final

from streamapp.author.app_warnings import app_warnings
from streamapp.spec.problem import with_path
from streamapp.spec.reasons import Reason
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.facts.reported_texts import refusal_reason, reported_text
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    LookupEnded,
    PartitionCounts,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.planning.acceptance import AcceptanceStatus
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan
from streamapp_operator.reconciler.status.app_condition import ConditionType, problem_lines
from streamapp_operator.reconciler.status.conditions.condition_table import (
    ConditionRow,
    ConditionTable,
    always,
)

_LOOKUP_MEND = "correct its bootstrapServers, or the topics of the app's streams"


def is_accepted(findings: Findings) -> bool:
    """True if the newest generation is accepted."""
    return findings.acceptance.status is AcceptanceStatus.ACCEPTED


def is_rejected(findings: Findings) -> bool:
    """True if the newest generation is rejected."""
    return findings.acceptance.status is AcceptanceStatus.REJECTED


def _driver_refusal_reason(findings: Findings) -> str:
    refusal = findings.acceptance.driver_refusal
    return refusal_reason(refusal.reason if refusal else "", Reason.INVALID_SPEC)


def _driver_refusal_text(findings: Findings) -> str:
    refusal = findings.acceptance.driver_refusal
    return reported_text(with_path(refusal.path, refusal.message)) if refusal else ""


def _rejection_reason(findings: Findings) -> str:
    problems = findings.acceptance.problems
    return problems[0].reason if problems else Reason.INVALID_SPEC


ACCEPTED: Final = ConditionTable(
    ConditionType.ACCEPTED,
    (
        ConditionRow(is_accepted, "True", ConditionReason.ACCEPTED, "the resource is sound"),
        ConditionRow(
            lambda findings: findings.acceptance.candidate is not None,
            "Unknown",
            ConditionReason.AWAITING_DRIVER,
            "the running driver looks at it, since a restart is needed for it",
        ),
        ConditionRow(
            lambda findings: findings.acceptance.status is AcceptanceStatus.OPEN,
            "Unknown",
            ConditionReason.NOT_PLANNED_YET,
            "it is accepted once it can be planned",
        ),
        ConditionRow(
            lambda findings: findings.acceptance.driver_refusal is not None,
            "False",
            _driver_refusal_reason,
            _driver_refusal_text,
        ),
        ConditionRow(
            always,
            "False",
            _rejection_reason,
            lambda findings: problem_lines(findings.acceptance.problems),
        ),
    ),
)
"""True if the newest generation is accepted."""


def _plan(findings: Findings) -> GenerationPlan | None:
    return findings.acceptance.plan or (findings.plan if is_accepted(findings) else None)


def _counts(findings: Findings) -> PartitionCounts | None:
    plan = _plan(findings)
    return plan.counts if plan is not None else None


def _driver_opens_its_log(findings: Findings) -> bool:
    return is_accepted(findings) and findings.embedded


def _planned_by_driver(findings: Findings) -> str:
    plan = _plan(findings)
    return plan.planned_by_driver if plan is not None else ""


def _with_warnings(findings: Findings, message: str) -> str:
    """The message with what a plan would warn of, for an app that the operator does not plan."""
    newest = findings.facts.app.newest
    warnings = app_warnings(newest.app) if newest.app else ()
    return "\n".join([message, *map(str, warnings)])


def _has_plan(findings: Findings) -> bool:
    plan = _plan(findings)
    return plan is not None and plan.proposal is not None


def _is_plan_rejected(findings: Findings) -> bool:
    """True if the plan has problems, and no model is in force that an app could keep."""
    plan = _plan(findings)
    if plan is None or plan.proposal is None:
        return False
    return plan.rejected or (bool(plan.problems) and findings.facts.run.desired is None)


def _agreement_text(findings: Findings) -> str:
    plan = _plan(findings)
    if plan is None or plan.proposal is None:
        return ""
    streams, joins = len(plan.proposal.plan.streams), len(plan.proposal.plan.joins)
    return "\n".join([f"{streams} streams, {joins} joins agree", *plan.proposal.plan.notes])


def _lookup_text(findings: Findings) -> str:
    match _counts(findings):
        case SystemUnavailable(system=system, message=message):
            return f"system {system} does not answer: {message}"
        case LookupEnded(system=system, message=message):
            return f"the operator ended its lookup in system {system}: {message}; {_LOOKUP_MEND}"
    return "the partition counts are being looked up"


def _cannot_be_planned(findings: Findings) -> bool:
    plan = _plan(findings)
    return plan is not None and (isinstance(plan.counts, SystemMisconfigured) or bool(plan.problems))


def _plan_problem_reason(findings: Findings) -> str:
    plan = _plan(findings)
    return plan.problems[0].reason if plan is not None and plan.problems else Reason.INVALID_SPEC


def _plan_problems(findings: Findings) -> str:
    plan = _plan(findings)
    return problem_lines(plan.problems) if plan is not None else ""


PLANNED: Final = ConditionTable(
    ConditionType.PLANNED,
    (
        ConditionRow(
            _driver_opens_its_log,
            "True",
            ConditionReason.PLANNED_BY_DRIVER,
            lambda findings: _with_warnings(
                findings, "the driver plans it: only that one can open an embedded log"
            ),
        ),
        ConditionRow(
            _planned_by_driver,
            "True",
            ConditionReason.PLANNED_BY_DRIVER,
            lambda findings: _with_warnings(findings, _planned_by_driver(findings)),
        ),
        ConditionRow(
            lambda findings: _plan(findings) is None,
            "Unknown",
            ConditionReason.NOT_ACCEPTED,
            "it is planned once the resource is sound",
        ),
        ConditionRow(_is_plan_rejected, "False", _plan_problem_reason, _plan_problems),
        ConditionRow(_has_plan, "True", ConditionReason.PLANNED, _agreement_text),
        ConditionRow(
            lambda findings: isinstance(_counts(findings), SystemUnavailable),
            "Unknown",
            Reason.SYSTEM_UNAVAILABLE,
            _lookup_text,
        ),
        ConditionRow(
            lambda findings: isinstance(_counts(findings), LookupEnded),
            "Unknown",
            ConditionReason.LOOKUP_ENDED,
            _lookup_text,
        ),
        ConditionRow(_cannot_be_planned, "False", _plan_problem_reason, _plan_problems),
        ConditionRow(always, "Unknown", ConditionReason.NOT_PLANNED_YET, _lookup_text),
    ),
)
"""True if there is a plan for the newest generation."""
