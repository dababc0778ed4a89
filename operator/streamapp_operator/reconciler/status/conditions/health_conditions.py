"""The conditions `Degraded` and `Stalled`: what is wrong, and whether a user has to act."""

from collections.abc import Iterator
from typing import Final

from streamapp.protocol.report_codec import MOST_WARNINGS
from streamapp.spec.problem import with_path
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_actions import HoldStart
from streamapp_operator.reconciler.facts.reported_texts import reported_reason, reported_text
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.status.app_condition import ConditionType, problem_lines
from streamapp_operator.reconciler.status.conditions.condition_table import (
    ConditionRow,
    ConditionTable,
    always,
)
from streamapp_operator.reconciler.status.conditions.driver_texts import (
    finished_reason,
    has_failed_for_good,
    held_reason,
    held_text,
    last_ending_text,
)
from streamapp_operator.reconciler.status.conditions.executor_texts import executor_problem
from streamapp_operator.reconciler.status.conditions.planning_conditions import ACCEPTED, is_rejected
from streamapp_operator.reconciler.status.standby_problem import standby_problem


def _model_refusal_reason(findings: Findings) -> str:
    return findings.model.reason if isinstance(findings.model, Refusal) else ""


def _has_plan_problems(findings: Findings) -> bool:
    return findings.target is not None and findings.plan is not None and bool(findings.plan.problems)


def _plan_problem_reason(findings: Findings) -> str:
    return findings.plan.problems[0].reason if findings.plan is not None else ""


def _plan_problems(findings: Findings) -> str:
    return problem_lines(findings.plan.problems) if findings.plan is not None else ""


def _has_failed(findings: Findings) -> bool:
    """True if the last drivers failed; one that has soon done its work counts as a failure, and is none."""
    has_failures = findings.driver.history.failures > 0 and findings.target is not None
    is_completed = findings.driver.finished is ConditionReason.COMPLETED
    return has_failures and not findings.running and not is_completed


def _pod_trouble(findings: Findings) -> str:
    return findings.driver.pod.trouble if findings.driver.pod is not None else ""


def _has_warnings(findings: Findings) -> bool:
    return findings.report is not None and bool(findings.report.warnings)


def _warning_reason(findings: Findings) -> str:
    warnings = findings.report.warnings if findings.report is not None else ()
    return reported_reason(warnings[0].reason if warnings else "", ConditionReason.DRIVER_REPORTED)


def _warnings(findings: Findings) -> str:
    warnings = findings.report.warnings[:MOST_WARNINGS] if findings.report is not None else ()
    text = "\n".join(reported_text(with_path(item.path, item.message)) for item in warnings)
    return text or _warning_reason(findings)


def _successor_problem(findings: Findings) -> str:
    """Why the running driver has no successor; empty where it has, or is to have none."""
    failure = findings.driver.successor.failure
    if failure is not None and not findings.driver.failed_start:
        return f"{failure.message}\nthe driver runs on until another one can take over"
    return standby_problem(findings.facts, findings.target) if findings.processing else ""


def _health_text(findings: Findings) -> str:
    if is_rejected(findings):  # which Stalled says
        return "nothing is wrong with what runs" if findings.target else "nothing runs"
    return "nothing is wrong"


DEGRADED: Final = ConditionTable(
    ConditionType.DEGRADED,
    (
        ConditionRow(
            lambda findings: findings.no_progress,
            "True",
            ConditionReason.NO_PROGRESS,
            lambda findings: findings.no_progress,
        ),
        ConditionRow(
            lambda findings: held_reason(findings) == ConditionReason.NAME_TAKEN,
            "True",
            ConditionReason.NAME_TAKEN,
            held_text,
        ),
        ConditionRow(
            lambda findings: bool(findings.facts.cluster.unrestored),
            "True",
            lambda findings: findings.facts.cluster.unrestored_reason,
            lambda findings: "\n".join(findings.facts.cluster.unrestored),
        ),
        ConditionRow(
            lambda findings: isinstance(findings.model, Refusal),
            "True",
            _model_refusal_reason,
            lambda findings: str(findings.model),
        ),
        ConditionRow(_has_plan_problems, "True", _plan_problem_reason, _plan_problems),
        ConditionRow(_has_failed, "True", ConditionReason.DRIVER_FAILED, last_ending_text),
        ConditionRow(has_failed_for_good, "True", finished_reason, last_ending_text),
        ConditionRow(_pod_trouble, "True", ConditionReason.DRIVER_PENDING, _pod_trouble),
        ConditionRow(executor_problem, "True", ConditionReason.EXECUTORS_MISSING, executor_problem),
        ConditionRow(_has_warnings, "True", _warning_reason, _warnings),
        ConditionRow(_successor_problem, "True", ConditionReason.STANDBY_MISSING, _successor_problem),
        ConditionRow(always, "False", ConditionReason.HEALTHY, _health_text),
    ),
)
"""True if the app runs worse than it was asked to."""


def _rejection_text(findings: Findings) -> str:
    return "\n".join([ACCEPTED.condition(findings).message, *_generation_in_force(findings)])


def _generation_in_force(findings: Findings) -> Iterator[str]:
    """The state of the generation that was accepted before one that is rejected; nothing if there is none."""
    in_force = findings.acceptance.target
    if in_force is None:
        return
    name = f"generation {in_force.generation}"
    if findings.suspended:
        yield f"{name} is suspended"
    elif has_failed_for_good(findings):
        yield f"{name}, accepted before, does not run: {last_ending_text(findings)}"
    elif findings.driver.finished is not None:
        yield f"{name} has done its work"
    elif findings.driver.pod is None:
        yield f"{name} has no driver now, and Launched says why"
    else:
        yield f"{name} keeps running"


def _is_held_by_its_plan(findings: Findings) -> bool:
    is_held = isinstance(findings.action, HoldStart)
    return is_held and findings.plan is not None and findings.plan.rejected


def _no_action_text(findings: Findings) -> str:
    if DEGRADED.condition(findings).status == "True":
        return "the newest generation is accepted or on its way; Degraded says what is wrong"
    return "no action is needed"


STALLED: Final = ConditionTable(
    ConditionType.STALLED,
    (
        ConditionRow(
            is_rejected, "True", lambda findings: ACCEPTED.condition(findings).reason, _rejection_text
        ),
        ConditionRow(has_failed_for_good, "True", finished_reason, last_ending_text),
        ConditionRow(_is_held_by_its_plan, "True", held_reason, held_text),
        ConditionRow(always, "False", ConditionReason.UP_TO_DATE, _no_action_text),
    ),
)
"""True if a user has to act before the newest generation can run."""
