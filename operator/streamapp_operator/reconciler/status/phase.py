"""The phase of an app; the diagram in the guide is drawn from the phases."""

from collections.abc import Mapping
from enum import StrEnum

from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_actions import (
    AwaitPods,
    DelayStart,
    DeleteExecutors,
    HoldStart,
    StartDriver,
    StopDriver,
)
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.planning.acceptance import AcceptanceStatus


class Phase(StrEnum):
    """The phases of an app's life."""

    PENDING = "Pending"
    REJECTED = "Rejected"
    LAUNCHING = "Launching"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    BACKING_OFF = "BackingOff"
    SUSPENDING = "Suspending"
    SUSPENDED = "Suspended"
    COMPLETED = "Completed"
    FAILED = "Failed"


PHASE_TEXTS: Mapping[Phase, str] = {
    Phase.PENDING: "something outside has to be known or there first: partition counts, a stream",
    Phase.REJECTED: "the resource is wrong, and nothing of it runs",
    Phase.LAUNCHING: "a driver pod is there and gets to its first batch",
    Phase.RUNNING: "batches are made",
    Phase.RESTARTING: "the last driver is ending, the next one follows",
    Phase.BACKING_OFF: "the last driver failed; the next one waits a while",
    Phase.SUSPENDING: "the running batch is being ended, because the app is to rest",
    Phase.SUSPENDED: "nothing runs; state and places are kept",
    Phase.COMPLETED: "the app has done all there was to do",
    Phase.FAILED: "the app failed as often as its restart policy allows, or has a fault that a driver found",
}


def phase(findings: Findings) -> Phase:
    """The phase of an app: the first that fits."""
    if findings.suspended:
        busy = findings.driver.pod is not None or bool(findings.facts.pods.executors)
        return Phase.SUSPENDING if busy else Phase.SUSPENDED
    if findings.target is None and findings.driver.pod is None:
        return Phase.REJECTED if findings.acceptance.status is AcceptanceStatus.REJECTED else Phase.PENDING
    return _phase_of_action(findings)


def _phase_of_action(findings: Findings) -> Phase:
    match findings.action:
        case DelayStart():
            return Phase.BACKING_OFF
        case HoldStart():
            return Phase.PENDING
        case StartDriver():
            return Phase.LAUNCHING
        case StopDriver() | AwaitPods() | DeleteExecutors():
            return Phase.RESTARTING
    if findings.driver.finished is not None:
        return Phase.COMPLETED if findings.driver.finished is ConditionReason.COMPLETED else Phase.FAILED
    return Phase.RUNNING if findings.processing or findings.ended else Phase.LAUNCHING
