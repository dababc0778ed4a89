"""What the operator remembers of an app's drivers, in the app's status; what is lost can be made up again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from streamapp_operator.reconciler.facts.pod_state import PodState, incarnation_of
from streamapp_operator.reconciler.facts.timestamps import format_timestamp, parse_timestamp
from streamapp_operator.reconciler.objects.object_metadata import GENERATION_LABEL


class DriverOutcome(StrEnum):
    """How a driver ended, as far as it decides what follows."""

    DONE = "done"  # it had nothing more to do
    CONFIG = "config"  # it says that the app has to change
    RETRY = "retry"  # it failed, and may be tried again
    STOPPED = "stopped"  # the operator asked it to end
    DISPLACED = "displaced"  # Kubernetes, or a person, took its pod away
    LOST = "lost"  # its node is gone or does not answer


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
    """The newest driver, how often one failed, and how the last one ended."""

    incarnation: int = 0  # raised in the status before a pod is made
    generation: int = 0
    uid: str = ""  # of its pod; empty until it was seen
    started_at: float | None = None
    stopping: str = ""
    failures: int = 0  # in a row
    restarts: int = 0
    last: EndedDriver | None = None

    @property
    def open(self) -> bool:
        """Whether the newest driver has not been told to have ended."""
        return self.incarnation > (self.last.incarnation if self.last else 0)


def history_from_status(
    status: Mapping[str, Any], drivers: Iterable[PodState], copied: int = 0
) -> DriverHistory:
    """The history in a status; where that was cleared, what the pods still tell, and a copied number."""
    told = status.get("driver")
    driver = told or {"incarnation": copied}
    newest = max(drivers, key=incarnation_of, default=None)
    found = DriverHistory(
        incarnation=driver.get("incarnation", 0),
        generation=driver.get("generation", 0),
        uid=driver.get("uid", ""),
        started_at=parse_timestamp(driver.get("startedAt")),
        stopping=driver.get("stopping", ""),
        failures=driver.get("failures", 0),
        restarts=status.get("restarts", max(0, copied - 1)),
        last=_past(driver.get("lastEnding")),
    )
    number = incarnation_of(newest) if newest else 0
    if newest is None or number < found.incarnation or (told and number == found.incarnation):
        return found
    return DriverHistory(
        incarnation=number,
        generation=int(newest.labels[GENERATION_LABEL]),
        uid=newest.uid,
        started_at=newest.started_at,
        restarts=max(found.restarts, number - 1),
        failures=found.failures,
        last=found.last,
    )


def history_status(history: DriverHistory, pod: PodState | None, name: str) -> dict[str, Any]:
    """The history as it stands in the status."""
    found: dict[str, Any] = {
        "incarnation": history.incarnation,
        "generation": history.generation,
        "pod": name,
        "uid": history.uid,
        "node": pod.node if pod else "",
        "startedAt": format_timestamp(history.started_at) if history.started_at is not None else "",
        "stopping": history.stopping,
        "failures": history.failures,
    }
    if history.last is not None:
        found["lastEnding"] = _ending(history.last)
    return {name: value for name, value in found.items() if value != ""}


def _ending(past: EndedDriver) -> dict[str, Any]:
    found = {
        "incarnation": past.incarnation,
        "generation": past.generation,
        "outcome": past.outcome.value,
        "reason": past.reason,
        "path": past.path,
        "message": past.message,
        "endedAt": format_timestamp(past.at),
    }
    return {name: value for name, value in found.items() if value != ""}


def _past(told: Mapping[str, Any] | None) -> EndedDriver | None:
    if not told or told.get("outcome") not in set(DriverOutcome):
        return None
    return EndedDriver(
        incarnation=told.get("incarnation", 0),
        generation=told.get("generation", 0),
        outcome=DriverOutcome(told["outcome"]),
        reason=told.get("reason", ""),
        message=told.get("message", ""),
        at=parse_timestamp(told.get("endedAt")) or 0.0,
        path=told.get("path", ""),
    )
