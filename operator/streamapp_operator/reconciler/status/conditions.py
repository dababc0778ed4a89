"""The conditions of an app: one function for each, from the findings alone."""

from collections.abc import Iterator

from streamapp.author.app_warnings import app_warnings
from streamapp.plan.render.wording import listed
from streamapp.protocol.driver_report import DriverState
from streamapp.protocol.report_codec import MOST_WARNINGS
from streamapp.spec.problem import with_path
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_actions import (
    AwaitPods,
    DelayStart,
    DeleteExecutors,
    HoldStart,
    KeepDriver,
    StartDriver,
    StopDriver,
)
from streamapp_operator.reconciler.driver.driver_history import DriverOutcome
from streamapp_operator.reconciler.facts.facts import MissingExecutors
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.facts.reported_texts import (
    refusal_reason,
    reported_reason,
    reported_text,
)
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    LookupEnded,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.planning.acceptance import AcceptanceStatus
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan
from streamapp_operator.reconciler.pods.driver_pod import generation_of
from streamapp_operator.reconciler.status.app_condition import (
    AppCondition,
    ConditionType,
    false_condition,
    problem_lines,
    true_condition,
    unknown_condition,
)
from streamapp_operator.reconciler.status.standby_problem import standby_problem

_MOST_NAMED_PROCESSORS = 5
"""How many are named where tasks wait for them."""
_LOOKUP_MEND = "correct its bootstrapServers, or the topics of the app's streams"
_FAILURES = {ConditionReason.RESTARTS_EXHAUSTED, ConditionReason.DRIVER_FAILED}
"""How a driver may have ended for good, other than by having done its work."""


def accepted(findings: Findings) -> AppCondition:
    """The condition `Accepted`: true if the newest generation is accepted."""
    acceptance, generation = findings.acceptance, findings.facts.newest.generation
    if acceptance.status is AcceptanceStatus.ACCEPTED:
        return true_condition(
            ConditionType.ACCEPTED, ConditionReason.ACCEPTED, "the resource is sound", generation
        )
    if acceptance.candidate is not None:
        message = "the running driver looks at it, since a restart is needed for it"
        return unknown_condition(ConditionType.ACCEPTED, ConditionReason.AWAITING_DRIVER, message, generation)
    if acceptance.status is AcceptanceStatus.OPEN:
        message = "it is accepted once it can be planned"
        return unknown_condition(ConditionType.ACCEPTED, ConditionReason.NOT_PLANNED_YET, message, generation)
    if acceptance.driver_refusal is not None:
        refusal = acceptance.driver_refusal
        message = reported_text(with_path(refusal.path, refusal.message))
        reason: str = refusal_reason(refusal.reason, Reason.INVALID_SPEC)
        return false_condition(ConditionType.ACCEPTED, reason, message, generation)
    reason = acceptance.problems[0].reason if acceptance.problems else Reason.INVALID_SPEC
    return false_condition(ConditionType.ACCEPTED, reason, problem_lines(acceptance.problems), generation)


def planned(findings: Findings) -> AppCondition:
    """The condition `Planned`: true if there is a plan for the newest generation."""
    generation = findings.facts.newest.generation
    plan = findings.acceptance.plan or (
        findings.plan if findings.acceptance.status is AcceptanceStatus.ACCEPTED else None
    )
    if findings.acceptance.status is AcceptanceStatus.ACCEPTED and findings.embedded:
        message = _with_warnings(findings, "the driver plans it: only that one can open an embedded log")
        return true_condition(ConditionType.PLANNED, ConditionReason.PLANNED_BY_DRIVER, message, generation)
    if plan is not None and plan.planned_by_driver:
        message = _with_warnings(findings, plan.planned_by_driver)
        return true_condition(ConditionType.PLANNED, ConditionReason.PLANNED_BY_DRIVER, message, generation)
    if plan is None:
        message = "it is planned once the resource is sound"
        return unknown_condition(ConditionType.PLANNED, ConditionReason.NOT_ACCEPTED, message, generation)
    if plan.proposal is None:
        return _not_planned(plan, generation)
    if plan.rejected or (plan.problems and findings.facts.desired is None):
        return false_condition(
            ConditionType.PLANNED, plan.problems[0].reason, problem_lines(plan.problems), generation
        )
    streams, joins = len(plan.proposal.plan.streams), len(plan.proposal.plan.joins)
    message = "\n".join([f"{streams} streams, {joins} joins agree", *plan.proposal.plan.notes])
    return true_condition(ConditionType.PLANNED, ConditionReason.PLANNED, message, generation)


def _with_warnings(findings: Findings, message: str) -> str:
    """The message with what a plan would warn of, for an app that the operator does not plan."""
    newest = findings.facts.newest
    warnings = app_warnings(newest.app) if newest.app else ()
    return "\n".join([message, *map(str, warnings)])


def _not_planned(plan: GenerationPlan, generation: int) -> AppCondition:
    counts = plan.counts
    if isinstance(counts, SystemUnavailable):
        message = f"system {counts.system} does not answer: {counts.message}"
        return unknown_condition(ConditionType.PLANNED, Reason.SYSTEM_UNAVAILABLE, message, generation)
    if isinstance(counts, LookupEnded):
        message = f"the operator ended its lookup in system {counts.system}: {counts.message}; {_LOOKUP_MEND}"
        return unknown_condition(ConditionType.PLANNED, ConditionReason.LOOKUP_ENDED, message, generation)
    if isinstance(counts, SystemMisconfigured) or plan.problems:
        reason = plan.problems[0].reason if plan.problems else Reason.INVALID_SPEC
        return false_condition(ConditionType.PLANNED, reason, problem_lines(plan.problems), generation)
    message = "the partition counts are being looked up"
    return unknown_condition(ConditionType.PLANNED, ConditionReason.NOT_PLANNED_YET, message, generation)


def launched(findings: Findings) -> AppCondition:
    """The condition `Launched`: true if there is a driver for the generation that is to run."""
    return next(_launched(findings))


def _launched(findings: Findings) -> Iterator[AppCondition]:
    # The first yielded condition counts.
    pod, action = findings.driver.pod, findings.action
    generation = _running_generation(findings)
    match action:
        case StartDriver():
            text = f"driver {action.incarnation} is being made"
            yield true_condition(ConditionType.LAUNCHED, ConditionReason.LAUNCHED, text, generation)
        case DelayStart():
            yield false_condition(
                ConditionType.LAUNCHED, ConditionReason.BACKING_OFF, _last_ending_text(findings), generation
            )
        case HoldStart():
            yield false_condition(ConditionType.LAUNCHED, action.reason, action.message, generation)
        case _ if (
            pod is not None and pod.life is not PodLifecycle.LEAVING and not isinstance(action, StopDriver)
        ):
            yield true_condition(
                ConditionType.LAUNCHED, ConditionReason.LAUNCHED, f"driver {pod.name}", generation
            )
        case StopDriver() | AwaitPods() | DeleteExecutors():
            yield false_condition(
                ConditionType.LAUNCHED, ConditionReason.ENDING, _ending_text(findings), generation
            )
    yield false_condition(
        ConditionType.LAUNCHED, _no_driver_reason(findings), _last_ending_text(findings), generation
    )


def ready(findings: Findings) -> AppCondition:
    """The condition `Ready`: true if the app processes its streams; about the generation that runs."""
    return next(_ready(findings))


def _ready(findings: Findings) -> Iterator[AppCondition]:
    # The first yielded condition counts.
    pod, generation = findings.driver.pod, _running_generation(findings)
    if text := findings.no_progress:
        yield unknown_condition(ConditionType.READY, ConditionReason.NO_PROGRESS, text, generation)
    if findings.processing and _all_tasks_wait(findings):
        text = _executor_problem(findings) or _work_text(findings)
        yield false_condition(ConditionType.READY, ConditionReason.EXECUTORS_MISSING, text, generation)
    if findings.processing:
        yield true_condition(ConditionType.READY, ConditionReason.RUNNING, _work_text(findings), generation)
    if pod is None:
        reason = (
            ConditionReason.LAUNCHED
            if isinstance(findings.action, StartDriver)
            else _no_driver_reason(findings)
        )
        yield false_condition(ConditionType.READY, reason, "there is no driver", generation)
        return
    if pod.life is PodLifecycle.LEAVING or isinstance(findings.action, StopDriver):
        yield false_condition(
            ConditionType.READY, ConditionReason.ENDING, f"driver {pod.name} is ending", generation
        )
    if pod.life is PodLifecycle.COMING:
        text = pod.trouble or f"driver {pod.name} is being started"
        yield false_condition(ConditionType.READY, ConditionReason.DRIVER_PENDING, text, generation)
    report = findings.report
    if report is not None and report.state is DriverState.WAITING and not findings.embedded:
        bound, wanted = (
            sum(bool(executor_binding.executor) for executor_binding in report.binding.values()),
            _processors(findings),
        )
        if bound < wanted:
            text = f"{bound} of {wanted} executors are there"
            yield false_condition(ConditionType.READY, ConditionReason.EXECUTORS_MISSING, text, generation)
    if report is None or report.state in {DriverState.STARTING, DriverState.WAITING}:
        text = "the driver has not got to its first batch"
        yield false_condition(ConditionType.READY, ConditionReason.DRIVER_STARTING, text, generation)
        return
    if findings.ended:
        yield false_condition(
            ConditionType.READY, ConditionReason.ENDING, "all is done, and the driver ends", generation
        )
    if report.state is DriverState.RESTORING:
        text = f"{report.progress.restoring} tasks bring back their state"
        yield false_condition(ConditionType.READY, ConditionReason.RESTORING, text, generation)
    yield false_condition(
        ConditionType.READY,
        ConditionReason.MODEL_CHANGED,
        "the driver applies another job model",
        generation,
    )


def progressing(findings: Findings) -> AppCondition:
    """The condition `Progressing`: true if the operator is bringing the app from one form to another."""
    return next(_progressing(findings))


def _progressing(findings: Findings) -> Iterator[AppCondition]:
    # The first yielded condition counts.
    generation = findings.facts.newest.generation
    driver = findings.driver
    if driver.restart:
        reason, *causes = driver.restart
        text = f"restarting: {'; '.join(causes) or reason}"
        if isinstance(findings.action, KeepDriver):
            next_driver = object_names.driver(findings.facts.name, driver.successor.incarnation)
            text += f"\n{next_driver} starts next to {findings.action.pod.name}, and then takes over"
            if driver.successor.obstacle is not None and not driver.successor.obstacle.is_slow:
                text += f"\n{driver.successor.obstacle.message}"
        yield true_condition(ConditionType.PROGRESSING, reason, text, generation)
    if (
        driver.seconds_to_wait is not None
        and not isinstance(findings.model, Refusal)
        and findings.model is not None
    ):
        text = "; ".join(findings.model.grown)
        yield true_condition(ConditionType.PROGRESSING, ConditionReason.PARTITIONS_GREW, text, generation)
    match findings.action:
        case StartDriver():
            yield true_condition(
                ConditionType.PROGRESSING, ConditionReason.LAUNCHED, "the driver is being started", generation
            )
        case StopDriver() | AwaitPods() | DeleteExecutors():
            yield true_condition(
                ConditionType.PROGRESSING, ConditionReason.ENDING, _ending_text(findings), generation
            )
        case KeepDriver() if findings.report is not None and findings.report.model_version not in {
            0,
            findings.wanted_version,
        }:
            text = f"the driver applies job model {findings.wanted_version}"
            yield true_condition(ConditionType.PROGRESSING, ConditionReason.MODEL_CHANGED, text, generation)
        case KeepDriver() if findings.runs_earlier_generation:
            text = f"the driver applies generation {findings.target.generation if findings.target else ''}"
            yield true_condition(ConditionType.PROGRESSING, ConditionReason.SPEC_CHANGED, text, generation)
        case KeepDriver() if not findings.running:
            readiness = ready(findings)
            yield true_condition(ConditionType.PROGRESSING, readiness.reason, readiness.message, generation)
    yield false_condition(
        ConditionType.PROGRESSING, ConditionReason.STABLE, "nothing is under way", generation
    )


def degraded(findings: Findings) -> AppCondition:
    """The condition `Degraded`: true if the app runs worse than it was asked to."""
    return next(_degraded(findings))


def _degraded(findings: Findings) -> Iterator[AppCondition]:
    # The first yielded condition counts.
    generation = findings.facts.newest.generation
    pod, report = findings.driver.pod, findings.report
    if text := findings.no_progress:
        yield true_condition(ConditionType.DEGRADED, ConditionReason.NO_PROGRESS, text, generation)
    yield from _object_problems(findings)
    if isinstance(findings.model, Refusal):
        yield true_condition(ConditionType.DEGRADED, findings.model.reason, str(findings.model), generation)
    if findings.plan is not None and findings.plan.problems and findings.target is not None:
        problem = findings.plan.problems[0]
        yield true_condition(
            ConditionType.DEGRADED, problem.reason, problem_lines(findings.plan.problems), generation
        )
    if findings.driver.history.failures and findings.target is not None and not findings.running:
        yield true_condition(
            ConditionType.DEGRADED, ConditionReason.DRIVER_FAILED, _last_ending_text(findings), generation
        )
    if findings.driver.finished in _FAILURES:
        yield true_condition(
            ConditionType.DEGRADED, str(findings.driver.finished), _last_ending_text(findings), generation
        )
    if pod is not None and pod.trouble:
        yield true_condition(ConditionType.DEGRADED, ConditionReason.DRIVER_PENDING, pod.trouble, generation)
    if text := _executor_problem(findings):
        yield true_condition(ConditionType.DEGRADED, ConditionReason.EXECUTORS_MISSING, text, generation)
    if report is not None and report.warnings:
        text = "\n".join(
            reported_text(with_path(item.path, item.message)) for item in report.warnings[:MOST_WARNINGS]
        )
        reason = reported_reason(report.warnings[0].reason, ConditionReason.DRIVER_REPORTED)
        yield true_condition(ConditionType.DEGRADED, reason, text or reason, generation)
    if text := _successor_problem(findings):
        yield true_condition(ConditionType.DEGRADED, ConditionReason.STANDBY_MISSING, text, generation)
    text = "nothing is wrong"
    if findings.acceptance.status is AcceptanceStatus.REJECTED:  # which Stalled says
        text = "nothing is wrong with what runs" if findings.target else "nothing runs"
    yield false_condition(ConditionType.DEGRADED, ConditionReason.HEALTHY, text, generation)


def _object_problems(findings: Findings) -> Iterator[AppCondition]:
    """The objects of the app whose names others have, or that cannot be put back."""
    action, facts = findings.action, findings.facts
    if isinstance(action, HoldStart) and action.reason == ConditionReason.NAME_TAKEN:
        yield true_condition(
            ConditionType.DEGRADED, ConditionReason.NAME_TAKEN, action.message, facts.newest.generation
        )
    if facts.unrestored:
        text = "\n".join(facts.unrestored)
        yield true_condition(ConditionType.DEGRADED, facts.unrestored_reason, text, facts.newest.generation)


def _successor_problem(findings: Findings) -> str:
    """Why the running driver has no successor; empty where it has, or is to have none."""
    failure = findings.driver.successor.failure
    if failure is not None and not findings.driver.failed_start:
        return f"{failure.message}\nthe driver runs on until another one can take over"
    return standby_problem(findings.facts, findings.target) if findings.processing else ""


def stalled(findings: Findings) -> AppCondition:
    """The condition `Stalled`: true if a user has to act before the newest generation can run."""
    return next(_stalled(findings))


def _stalled(findings: Findings) -> Iterator[AppCondition]:
    # The first yielded condition counts.
    generation = findings.facts.newest.generation
    if findings.acceptance.status is AcceptanceStatus.REJECTED:
        acceptance = accepted(findings)
        message = "\n".join([acceptance.message, *_generation_in_force(findings)])
        yield true_condition(ConditionType.STALLED, acceptance.reason, message, generation)
    finished = findings.driver.finished
    if finished in _FAILURES:
        yield true_condition(ConditionType.STALLED, str(finished), _last_ending_text(findings), generation)
    if isinstance(findings.action, HoldStart) and findings.plan is not None and findings.plan.rejected:
        yield true_condition(
            ConditionType.STALLED, findings.action.reason, findings.action.message, generation
        )
    text = "no action is needed"
    if degraded(findings).status == "True":
        text = "the newest generation is accepted or on its way; Degraded says what is wrong"
    yield false_condition(ConditionType.STALLED, ConditionReason.UP_TO_DATE, text, generation)


def suspended(findings: Findings) -> AppCondition:
    """The condition `Suspended`: true if the app is suspended by `spec.suspend`."""
    generation = findings.facts.newest.generation
    if not findings.suspended:
        return false_condition(
            ConditionType.SUSPENDED, ConditionReason.NOT_SUSPENDED, "spec.suspend is not set", generation
        )
    if findings.driver.pod is not None or findings.facts.executors:
        return false_condition(
            ConditionType.SUSPENDED, ConditionReason.ENDING, "the running batch is being ended", generation
        )
    return true_condition(
        ConditionType.SUSPENDED, ConditionReason.SUSPENDED, "state and places are kept", generation
    )


def configuration_outdated(findings: Findings) -> AppCondition:
    """The condition `ConfigurationOutdated`: true if Secrets or ConfigMaps changed since the driver began."""
    generation, pod = findings.facts.newest.generation, findings.driver.pod
    if pod is not None and (changed := findings.changed_configuration):
        message = f"{', '.join(changed)}: changed since {pod.name} was started; a restart takes that up"
        return true_condition(
            ConditionType.CONFIGURATION_OUTDATED, ConditionReason.CONFIGURATION_CHANGED, message, generation
        )
    return false_condition(
        ConditionType.CONFIGURATION_OUTDATED,
        ConditionReason.UP_TO_DATE,
        "no Secret or ConfigMap is known to have changed since the driver was started",
        generation,
    )


def reconciliation_paused(findings: Findings) -> AppCondition:
    """Not true where anything is decided: a paused app is not."""
    return false_condition(
        ConditionType.RECONCILIATION_PAUSED,
        ConditionReason.NOT_PAUSED,
        "the operator manages the app",
        findings.facts.newest.generation,
    )


CONDITIONS = (
    accepted,
    planned,
    launched,
    ready,
    progressing,
    degraded,
    stalled,
    suspended,
    configuration_outdated,
    reconciliation_paused,
)


def _running_generation(findings: Findings) -> int:
    """The running generation. A generation that needs no restart runs once the driver reports it."""
    pod, target = findings.driver.pod, findings.target
    if findings.runs_earlier_generation and findings.report is not None:
        return findings.report.generation
    if pod is not None and (findings.driver.restart or target is None):
        return generation_of(pod.manifest)
    return target.generation if target is not None else findings.facts.newest.generation


def _generation_in_force(findings: Findings) -> Iterator[str]:
    """The state of the generation that was accepted before one that is rejected; nothing if there is none."""
    in_force = findings.acceptance.target
    if in_force is None:
        return
    name = f"generation {in_force.generation}"
    if findings.suspended:
        yield f"{name} is suspended"
    elif findings.driver.finished in _FAILURES:
        yield f"{name}, accepted before, does not run: {_last_ending_text(findings)}"
    elif findings.driver.finished is not None:
        yield f"{name} has done its work"
    elif findings.driver.pod is None:
        yield f"{name} has no driver now, and Launched says why"
    else:
        yield f"{name} keeps running"


def _work_text(findings: Findings) -> str:
    moved = findings.report.moved if findings.report else {}
    if waiting := _waiting_tasks(findings):
        missing_processors = sorted(set(waiting.values()))
        return f"{len(waiting)} tasks wait for {listed(missing_processors, _MOST_NAMED_PROCESSORS)}"
    return f"all tasks run; away from their processors: {len(moved)}" if moved else "all processors work"


def _executor_problem(findings: Findings) -> str:
    """The problem of the driver's executors, in Kubernetes' words where there are any."""
    pod, now = findings.driver.pod, findings.facts.now
    missing = findings.facts.missing_executors.get(pod.uid) if pod is not None else None
    if missing is not None and missing.seconds(now) < MissingExecutors.GRACE_SECONDS:
        missing = None
    trouble = next((f"{item.name}: {item.trouble}" for item in findings.facts.executors if item.trouble), "")
    refused_pod = missing.refused_pod if missing is not None else None
    if refused_pod is not None and not trouble:
        trouble = refused_pod.text("an executor")
    waiting = _work_text(findings) if findings.processing and _waiting_tasks(findings) else ""
    has_lost_some = missing is not None and missing.living > 0 and findings.processing
    if not (trouble or waiting or has_lost_some):
        return ""
    counts = f"{missing.living} of {missing.wanted} executors run" if missing is not None else ""
    return "\n".join(line for line in (counts, trouble, waiting) if line)


def _all_tasks_wait(findings: Findings) -> bool:
    model = findings.model_in_force
    return model is not None and bool(model.tasks) and len(_waiting_tasks(findings)) == len(model.tasks)


def _waiting_tasks(findings: Findings) -> dict[str, str]:
    """The tasks whose processor has no lane, by the report of a driver that runs the model."""
    report, model = findings.report, findings.model_in_force
    if report is None or model is None or report.model_version != model.version or findings.embedded:
        return {}
    if report.binding.keys() >= set(model.processors):
        return {}
    return {task: owner for task, owner in report.owners(model).items() if owner not in report.binding}


def _processors(findings: Findings) -> int:
    return findings.target.accepted.app.spec.processors if findings.target else 0


def _no_driver_reason(findings: Findings) -> str:
    if findings.suspended:
        return ConditionReason.SUSPENDED
    if findings.driver.finished is not None:
        return findings.driver.finished
    match findings.action:
        case DelayStart():
            return ConditionReason.BACKING_OFF
        case HoldStart(reason=reason):
            return reason
        case StopDriver() | AwaitPods() | DeleteExecutors():
            return ConditionReason.ENDING
    has_counts = not findings.acceptance.plan or isinstance(findings.acceptance.plan.counts, KnownCounts)
    return ConditionReason.NOT_ACCEPTED if has_counts else ConditionReason.NOT_PLANNED_YET


def _last_ending_text(findings: Findings) -> str:
    last = findings.driver.history.last
    if last is None:
        return "no driver was started yet"
    text = f"driver {last.incarnation} ended ({last.outcome}, {last.reason}): {last.message}"
    failures = f"; {findings.driver.history.failures} failures in a row" * (
        last.outcome is DriverOutcome.RETRY
    )
    return text + failures


def _ending_text(findings: Findings) -> str:
    match findings.action:
        case StopDriver(pod=pod, reason=reason):
            return f"driver {pod.name} is asked to end: {reason}"
        case AwaitPods(message=message):
            return message
        case DeleteExecutors(executors=executors, at_once=lost_executors):
            return f"{len(executors) + len(lost_executors)} executors of the last driver are taken away"
    return ""
