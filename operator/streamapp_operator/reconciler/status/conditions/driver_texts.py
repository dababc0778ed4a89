"""The sentences about an app's driver that several conditions share."""

from collections.abc import Callable

from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_actions import (
    AwaitPods,
    DelayStart,
    DeleteExecutors,
    DriverAction,
    HoldStart,
    StopDriver,
)
from streamapp_operator.reconciler.driver.driver_history import DriverOutcome
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.pods.driver_pod import generation_of

_FAILURES = {ConditionReason.RESTARTS_EXHAUSTED, ConditionReason.DRIVER_FAILED}
"""The reasons for which a driver may have ended for good, other than having done its work."""


def takes_action(*kinds: type[DriverAction]) -> Callable[[Findings], bool]:
    """The condition that the action on the driver is of one of these kinds."""
    return lambda findings: isinstance(findings.action, kinds)


is_ending = takes_action(StopDriver, AwaitPods, DeleteExecutors)


def has_failed_for_good(findings: Findings) -> bool:
    """True if no further driver is started after a failure."""
    return findings.driver.finished in _FAILURES


def finished_reason(findings: Findings) -> str:
    """The reason for which no further driver is started; empty where one may be."""
    return str(findings.driver.finished or "")


def running_generation(findings: Findings) -> int:
    """The running generation. A generation that needs no restart runs once the driver reports it."""
    pod, target = findings.driver.pod, findings.target
    if findings.runs_earlier_generation and findings.report is not None:
        return findings.report.generation
    if pod is not None and (findings.driver.restart or target is None):
        return generation_of(pod.manifest)
    return target.generation if target is not None else findings.facts.app.newest.generation


def held_reason(findings: Findings) -> str:
    """The reason for which a start is held; empty where it is not."""
    return findings.action.reason if isinstance(findings.action, HoldStart) else ""


def held_text(findings: Findings) -> str:
    """The obstacle to a start that is held; empty where it is not."""
    return findings.action.message if isinstance(findings.action, HoldStart) else ""


def no_driver_reason(findings: Findings) -> str:
    """The reason for which there is no driver."""
    if findings.suspended:
        return ConditionReason.SUSPENDED
    if findings.driver.finished is not None:
        return findings.driver.finished
    if isinstance(findings.action, DelayStart):
        return ConditionReason.BACKING_OFF
    if isinstance(findings.action, HoldStart):
        return findings.action.reason
    if is_ending(findings):
        return ConditionReason.ENDING
    has_counts = not findings.acceptance.plan or isinstance(findings.acceptance.plan.counts, KnownCounts)
    return ConditionReason.NOT_ACCEPTED if has_counts else ConditionReason.NOT_PLANNED_YET


def last_ending_text(findings: Findings) -> str:
    """The ending of the last driver that ended, with its failures in a row."""
    last = findings.driver.history.last
    if last is None:
        return "no driver was started yet"
    text = f"driver {last.incarnation} ended ({last.outcome}, {last.reason}): {last.message}"
    failures = f"; {findings.driver.history.failures} failures in a row" * (
        last.outcome is DriverOutcome.RETRY
    )
    return text + failures


def ending_text(findings: Findings) -> str:
    """The pods that are being ended, and why; empty where none is."""
    match findings.action:
        case StopDriver(pod=pod, reason=reason):
            return f"driver {pod.name} is asked to end: {reason}"
        case AwaitPods(message=message):
            return message
        case DeleteExecutors(executors=executors, at_once=lost_executors):
            return f"{len(executors) + len(lost_executors)} executors of the last driver are taken away"
    return ""
