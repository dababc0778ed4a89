"""The history of an app's drivers, kept in the app's status and restored from its pods."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from streamapp_operator.reconciler.facts.pod_state import PodState, incarnation_of
from streamapp_operator.reconciler.facts.timestamps import format_timestamp, parse_timestamp
from streamapp_operator.reconciler.pods.driver_pod import generation_of


class DriverOutcome(StrEnum):
    """The outcome of a driver, as far as the next action depends on it."""

    DONE = "done"  # it finished its work
    CONFIG = "config"  # it reports that the app has to change
    RETRY = "retry"  # it failed and may be restarted
    STOPPED = "stopped"  # the operator asked it to end
    DISPLACED = "displaced"  # Kubernetes or a user removed its pod
    LOST = "lost"  # its node is gone or not ready, or it made no progress


@dataclass(frozen=True, slots=True)
class EndedDriver:
    """A driver that ended."""

    incarnation: int
    generation: int
    outcome: DriverOutcome
    reason: str
    message: str
    at: float
    path: str = ""


@dataclass(frozen=True, slots=True)
class DriverHistory:
    """The newest driver, the count of failures, and how the last driver ended."""

    incarnation: int = 0  # raised in the status before a pod is created
    generation: int = 0
    successor: int = 0  # the incarnation of the last standby driver, raised before its pod is created
    uid: str = ""  # of its pod; empty until the pod was observed
    started_at: float | None = None
    stopping: str = ""
    failures: int = 0  # in a row
    restarts: int = 0
    last: EndedDriver | None = None

    @property
    def open(self) -> bool:
        """True if no ending of the newest driver is recorded."""
        return self.incarnation > (self.last.incarnation if self.last else 0)


def history_from_status(status: Mapping[str, Any], copied_incarnation: int = 0) -> DriverHistory:
    """The history in a status; of a cleared status only the copied incarnation is known."""
    driver = status.get("driver") or {"incarnation": copied_incarnation}
    return DriverHistory(
        incarnation=driver.get("incarnation", 0),
        generation=driver.get("generation", 0),
        successor=driver.get("successor", 0),
        uid=driver.get("uid", ""),
        started_at=parse_timestamp(driver.get("startedAt")),
        stopping=driver.get("stopping", ""),
        failures=driver.get("failures", 0),
        restarts=status.get("restarts", max(0, copied_incarnation - 1)),
        last=_read_ending(driver.get("lastEnding")),
    )


def with_newest_driver(history: DriverHistory, drivers: Iterable[PodState]) -> DriverHistory:
    """The history with a driver that it does not know.

    An operator that ended between its writes had a successor take over, or the status was cleared.
    """
    newest = max(drivers, key=incarnation_of, default=None)
    number = incarnation_of(newest) if newest else 0
    is_known = history.generation and number == history.incarnation
    if newest is None or number < history.incarnation or is_known:
        return history
    return DriverHistory(
        incarnation=number,
        generation=generation_of(newest.manifest),
        successor=history.successor,
        uid=newest.uid,
        started_at=newest.started_at,
        restarts=history.restarts + 1 if history.generation else max(history.restarts, number - 1),
        failures=history.failures,
        last=history.last,
    )


def history_status(history: DriverHistory, pod: PodState | None, name: str) -> dict[str, Any]:
    """The history as `status.driver`."""
    status: dict[str, Any] = {
        "incarnation": history.incarnation,
        "generation": history.generation,
        "successor": history.successor or "",
        "pod": name,
        "uid": history.uid,
        "node": pod.node if pod else "",
        "startedAt": format_timestamp(history.started_at) if history.started_at is not None else "",
        "stopping": history.stopping,
        "failures": history.failures,
    }
    if history.last is not None:
        status["lastEnding"] = _ending_status(history.last)
    return {name: value for name, value in status.items() if value != ""}


def _ending_status(ending: EndedDriver) -> dict[str, Any]:
    status = {
        "incarnation": ending.incarnation,
        "generation": ending.generation,
        "outcome": ending.outcome.value,
        "reason": ending.reason,
        "path": ending.path,
        "message": ending.message,
        "endedAt": format_timestamp(ending.at),
    }
    return {name: value for name, value in status.items() if value != ""}


def _read_ending(status: Mapping[str, Any] | None) -> EndedDriver | None:
    if not status or status.get("outcome") not in set(DriverOutcome):
        return None
    return EndedDriver(
        incarnation=status.get("incarnation", 0),
        generation=status.get("generation", 0),
        outcome=DriverOutcome(status["outcome"]),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        at=parse_timestamp(status.get("endedAt")) or 0.0,
        path=status.get("path", ""),
    )
