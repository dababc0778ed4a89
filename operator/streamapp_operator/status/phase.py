"""The life of an app in one word; the picture in the guide is drawn from the words."""

from collections.abc import Mapping
from enum import StrEnum

from streamapp_operator.driver.moves import Await, Clear, Hold, Rest, Start, Stop
from streamapp_operator.status.view import View
from streamapp_operator.status.why import Why
from streamapp_operator.steps.accept import Verdict


class Phase(StrEnum):
    """Where an app is in its life."""

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


SAYS: Mapping[Phase, str] = {
    Phase.PENDING: "something outside has to be known or there first: partition counts, a stream",
    Phase.REJECTED: "the resource is wrong, and nothing of it runs",
    Phase.LAUNCHING: "a driver pod is there and gets to its first batch",
    Phase.RUNNING: "batches are made",
    Phase.RESTARTING: "the last driver is ending, the next one follows",
    Phase.BACKING_OFF: "the last driver failed; the next one waits a while",
    Phase.SUSPENDING: "the running batch is being ended, because the app is to rest",
    Phase.SUSPENDED: "nothing runs; state and places are kept",
    Phase.COMPLETED: "the app has done all there was to do",
    Phase.FAILED: "the app failed as often as its restart policy allows",
}


def phase(view: View) -> Phase:
    """The phase of an app: the first that fits."""
    if view.suspended:
        busy = view.driving.pod is not None or bool(view.facts.executors)
        return Phase.SUSPENDING if busy else Phase.SUSPENDED
    if view.target is None and view.driving.pod is None:
        return Phase.REJECTED if view.acceptance.verdict is Verdict.REJECTED else Phase.PENDING
    return _of_move(view)


def _of_move(view: View) -> Phase:
    match view.move:
        case Rest():
            return Phase.BACKING_OFF
        case Hold():
            return Phase.PENDING
        case Start():
            return Phase.LAUNCHING
        case Stop() | Await() | Clear():
            return Phase.RESTARTING
    if view.driving.over is not None:
        return Phase.COMPLETED if view.driving.over is Why.COMPLETED else Phase.FAILED
    return Phase.RUNNING if view.running or view.ended else Phase.LAUNCHING
