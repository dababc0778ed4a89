"""The conditions of an app: each from the findings alone, each by one function."""

from collections.abc import Iterator

from streamapp.protocol.driver_report import DriverState
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
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
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


def accepted(view: Findings) -> AppCondition:
    """Whether the newest generation is taken."""
    found, generation = view.acceptance, view.facts.newest.generation
    if found.verdict is AcceptanceStatus.ACCEPTED:
        return true_condition(
            ConditionType.ACCEPTED, ConditionReason.ACCEPTED, "the resource is sound", generation
        )
    if found.verdict is AcceptanceStatus.OPEN:
        message = "it is accepted once it can be planned"
        return unknown_condition(ConditionType.ACCEPTED, ConditionReason.NOT_PLANNED_YET, message, generation)
    if found.refused is not None:
        refused = found.refused
        message = f"{refused.path}: {refused.message}" if refused.path else refused.message
        return false_condition(
            ConditionType.ACCEPTED, refused.reason or Reason.INVALID_SPEC, message, generation
        )
    reason = found.problems[0].reason if found.problems else Reason.INVALID_SPEC
    return false_condition(ConditionType.ACCEPTED, reason, problem_lines(found.problems), generation)


def planned(view: Findings) -> AppCondition:
    """Whether there is a plan for the newest generation."""
    generation = view.facts.newest.generation
    found = view.acceptance.authored or (
        view.authored if view.acceptance.verdict is AcceptanceStatus.ACCEPTED else None
    )
    if view.acceptance.verdict is AcceptanceStatus.ACCEPTED and view.embedded:
        message = "the driver plans it: only that one can open an embedded log"
        return true_condition(ConditionType.PLANNED, ConditionReason.PLANNED_BY_DRIVER, message, generation)
    if found is not None and found.by_driver:
        message = "there is state under this application id; the driver plans by the layout beside it"
        return true_condition(ConditionType.PLANNED, ConditionReason.PLANNED_BY_DRIVER, message, generation)
    if found is None:
        message = "it is planned once the resource is sound"
        return unknown_condition(ConditionType.PLANNED, ConditionReason.NOT_ACCEPTED, message, generation)
    if found.proposal is None:
        return _not_planned(found, generation)
    if found.rejected or (found.problems and view.facts.desired is None):
        return false_condition(
            ConditionType.PLANNED, found.problems[0].reason, problem_lines(found.problems), generation
        )
    streams, joins = len(found.proposal.plan.streams), len(found.proposal.plan.joins)
    return true_condition(
        ConditionType.PLANNED, ConditionReason.PLANNED, f"{streams} streams, {joins} joins agree", generation
    )


def _not_planned(found: GenerationPlan, generation: int) -> AppCondition:
    counts = found.counts
    if isinstance(counts, SystemUnavailable):
        message = f"system {counts.system} does not answer: {counts.message}"
        return unknown_condition(ConditionType.PLANNED, Reason.SYSTEM_UNAVAILABLE, message, generation)
    if isinstance(counts, SystemMisconfigured) or found.problems:
        reason = found.problems[0].reason if found.problems else Reason.INVALID_SPEC
        return false_condition(ConditionType.PLANNED, reason, problem_lines(found.problems), generation)
    message = "the partition counts are being looked up"
    return unknown_condition(ConditionType.PLANNED, ConditionReason.NOT_PLANNED_YET, message, generation)


def launched(view: Findings) -> AppCondition:
    """Whether there is a driver for the generation that is to run."""
    return next(_launched(view))


def _launched(view: Findings) -> Iterator[AppCondition]:
    # The first that is said counts.
    pod, move = view.driving.pod, view.move
    generation = _runs(view)
    match move:
        case StartDriver():
            text = f"driver {move.incarnation} is being made"
            yield true_condition(ConditionType.LAUNCHED, ConditionReason.LAUNCHED, text, generation)
        case DelayStart():
            yield false_condition(
                ConditionType.LAUNCHED, ConditionReason.BACKING_OFF, _last_words(view), generation
            )
        case HoldStart():
            yield false_condition(ConditionType.LAUNCHED, move.reason, move.message, generation)
        case _ if (
            pod is not None and pod.life is not PodLifecycle.LEAVING and not isinstance(move, StopDriver)
        ):
            yield true_condition(
                ConditionType.LAUNCHED, ConditionReason.LAUNCHED, f"driver {pod.name}", generation
            )
        case StopDriver() | AwaitPods() | DeleteExecutors():
            yield false_condition(ConditionType.LAUNCHED, ConditionReason.ENDING, _ending(view), generation)
    yield false_condition(ConditionType.LAUNCHED, _why_none(view), _last_words(view), generation)


def ready(view: Findings) -> AppCondition:
    """Whether the app does its work; of the generation that runs."""
    return next(_ready(view))


def _ready(view: Findings) -> Iterator[AppCondition]:
    # The first that is said counts.
    pod, generation = view.driving.pod, _runs(view)
    if view.running:
        yield true_condition(ConditionType.READY, ConditionReason.RUNNING, "all processors work", generation)
    if pod is None:
        why = ConditionReason.LAUNCHED if isinstance(view.move, StartDriver) else _why_none(view)
        yield false_condition(ConditionType.READY, why, "there is no driver", generation)
        return
    if pod.life is PodLifecycle.LEAVING or isinstance(view.move, StopDriver):
        yield false_condition(
            ConditionType.READY, ConditionReason.ENDING, f"driver {pod.name} is ending", generation
        )
    if pod.life is PodLifecycle.COMING:
        text = pod.trouble or f"driver {pod.name} is being started"
        yield false_condition(ConditionType.READY, ConditionReason.DRIVER_PENDING, text, generation)
    report = view.report
    if report is not None and report.state is DriverState.WAITING and not view.embedded:
        have, want = sum(bool(seat.executor) for seat in report.binding.values()), _processors(view)
        if have < want:
            text = f"{have} of {want} executors are there"
            yield false_condition(ConditionType.READY, ConditionReason.EXECUTORS_MISSING, text, generation)
    if report is None or report.state in {DriverState.STARTING, DriverState.WAITING}:
        text = "the driver has not got to its first batch"
        yield false_condition(ConditionType.READY, ConditionReason.DRIVER_STARTING, text, generation)
        return
    if view.ended:
        yield false_condition(
            ConditionType.READY, ConditionReason.ENDING, "all is done, and the driver ends", generation
        )
    if report.state is DriverState.RESTORING:
        text = f"{report.progress.restoring} tasks bring back their state"
        yield false_condition(ConditionType.READY, ConditionReason.RESTORING, text, generation)
    yield false_condition(
        ConditionType.READY,
        ConditionReason.MODEL_CHANGED,
        "the driver takes up another job model",
        generation,
    )


def progressing(view: Findings) -> AppCondition:
    """Whether the operator is bringing the app from one form to another."""
    return next(_progressing(view))


def _progressing(view: Findings) -> Iterator[AppCondition]:
    # The first that is said counts.
    generation = view.facts.newest.generation
    driving = view.driving
    if driving.restart:
        reason, *about = driving.restart
        yield true_condition(
            ConditionType.PROGRESSING, reason, f"restarting: {'; '.join(about) or reason}", generation
        )
    if driving.hold is not None and not isinstance(view.modelled, Refusal) and view.modelled is not None:
        text = "; ".join(view.modelled.grown)
        yield true_condition(ConditionType.PROGRESSING, ConditionReason.PARTITIONS_GREW, text, generation)
    match view.move:
        case StartDriver():
            yield true_condition(
                ConditionType.PROGRESSING, ConditionReason.LAUNCHED, "the driver is being started", generation
            )
        case StopDriver() | AwaitPods() | DeleteExecutors():
            yield true_condition(ConditionType.PROGRESSING, ConditionReason.ENDING, _ending(view), generation)
        case KeepDriver() if view.report is not None and view.report.model_version not in {
            0,
            view.wanted_version,
        }:
            text = f"the driver takes up job model {view.wanted_version}"
            yield true_condition(ConditionType.PROGRESSING, ConditionReason.MODEL_CHANGED, text, generation)
        case KeepDriver() if view.behind:
            text = f"the driver takes up generation {view.target.generation if view.target else ''}"
            yield true_condition(ConditionType.PROGRESSING, ConditionReason.SPEC_CHANGED, text, generation)
        case KeepDriver() if not view.running:
            now = ready(view)
            yield true_condition(ConditionType.PROGRESSING, now.reason, now.message, generation)
    yield false_condition(
        ConditionType.PROGRESSING, ConditionReason.STABLE, "nothing is under way", generation
    )


def degraded(view: Findings) -> AppCondition:
    """Whether the app runs worse than it was asked to."""
    return next(_degraded(view))


def _degraded(view: Findings) -> Iterator[AppCondition]:
    # The first that is said counts.
    generation = view.facts.newest.generation
    pod, report = view.driving.pod, view.report
    if isinstance(view.modelled, Refusal):
        yield true_condition(ConditionType.DEGRADED, view.modelled.reason, str(view.modelled), generation)
    if view.authored is not None and view.authored.problems and view.target is not None:
        first = view.authored.problems[0]
        yield true_condition(
            ConditionType.DEGRADED, first.reason, problem_lines(view.authored.problems), generation
        )
    if view.driving.history.failures and view.target is not None and not view.running:
        yield true_condition(
            ConditionType.DEGRADED, ConditionReason.DRIVER_FAILED, _last_words(view), generation
        )
    if pod is not None and pod.trouble:
        yield true_condition(ConditionType.DEGRADED, ConditionReason.DRIVER_PENDING, pod.trouble, generation)
    if trouble := next((one.trouble for one in view.facts.executors if one.trouble), ""):
        yield true_condition(ConditionType.DEGRADED, ConditionReason.EXECUTORS_MISSING, trouble, generation)
    if report is not None and report.warnings:
        text = "\n".join(f"{one.path}: {one.message}" if one.path else one.message for one in report.warnings)
        yield true_condition(ConditionType.DEGRADED, report.warnings[0].reason, text, generation)
    yield false_condition(ConditionType.DEGRADED, ConditionReason.HEALTHY, "nothing is wrong", generation)


def stalled(view: Findings) -> AppCondition:
    """Whether somebody has to do something before the app gets to what was asked for last."""
    return next(_stalled(view))


def _stalled(view: Findings) -> Iterator[AppCondition]:
    # The first that is said counts.
    generation = view.facts.newest.generation
    if view.acceptance.verdict is AcceptanceStatus.REJECTED:
        found = accepted(view)
        goes_on = view.acceptance.target
        tail = f"\ngeneration {goes_on.generation} goes on" if goes_on else ""
        yield true_condition(ConditionType.STALLED, found.reason, found.message + tail, generation)
    if view.driving.over is ConditionReason.RESTARTS_EXHAUSTED:
        yield true_condition(
            ConditionType.STALLED, ConditionReason.RESTARTS_EXHAUSTED, _last_words(view), generation
        )
    if isinstance(view.move, HoldStart) and view.authored is not None and view.authored.rejected:
        yield true_condition(ConditionType.STALLED, view.move.reason, view.move.message, generation)
    yield false_condition(
        ConditionType.STALLED, ConditionReason.UP_TO_DATE, "nobody has to do anything", generation
    )


def suspended(view: Findings) -> AppCondition:
    """Whether the app is at rest because somebody wants it so."""
    generation = view.facts.newest.generation
    if not view.suspended:
        return false_condition(
            ConditionType.SUSPENDED, ConditionReason.NOT_SUSPENDED, "spec.suspend is not set", generation
        )
    if view.driving.pod is not None or view.facts.executors:
        return false_condition(
            ConditionType.SUSPENDED, ConditionReason.ENDING, "the running batch is being ended", generation
        )
    return true_condition(
        ConditionType.SUSPENDED, ConditionReason.SUSPENDED, "state and places are kept", generation
    )


CONDITIONS = (accepted, planned, launched, ready, progressing, degraded, stalled, suspended)


def _runs(view: Findings) -> int:
    """The generation that runs. One without a restart runs when the driver says that it goes by it."""
    pod, target = view.driving.pod, view.target
    if view.behind and view.report is not None:
        return view.report.generation
    if pod is not None and (view.driving.restart or target is None):
        return generation_of(pod.manifest)
    return target.generation if target is not None else view.facts.newest.generation


def _processors(view: Findings) -> int:
    return view.target.accepted.app.spec.processors if view.target else 0


def _why_none(view: Findings) -> str:
    if view.suspended:
        return ConditionReason.SUSPENDED
    if view.driving.over is not None:
        return view.driving.over
    planned_yet = not view.acceptance.authored or isinstance(view.acceptance.authored.counts, KnownCounts)
    return ConditionReason.NOT_ACCEPTED if planned_yet else ConditionReason.NOT_PLANNED_YET


def _last_words(view: Findings) -> str:
    last = view.driving.history.last
    if last is None:
        return "no driver was started yet"
    words = f"driver {last.incarnation} ended ({last.outcome}, {last.reason}): {last.message}"
    counts = f"; {view.driving.history.failures} failures in a row" * (last.outcome is DriverOutcome.RETRY)
    return words + counts


def _ending(view: Findings) -> str:
    match view.move:
        case StopDriver(pod=pod, why=why):
            return f"driver {pod.name} is asked to end: {why}"
        case AwaitPods(what=what):
            return what
        case DeleteExecutors(executors=executors, at_once=lost):
            return f"{len(executors) + len(lost)} executors of the last driver are taken away"
    return ""
