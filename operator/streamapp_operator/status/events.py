"""What changed, as Events: one for each condition that says something else than before."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from streamapp_operator.status.condition import Aspect
from streamapp_operator.status.why import Why

Type = Literal["Normal", "Warning"]

_TOLD: Mapping[tuple[Aspect, str], Type] = {
    (Aspect.ACCEPTED, "True"): "Normal",
    (Aspect.ACCEPTED, "False"): "Warning",
    (Aspect.PLANNED, "Unknown"): "Warning",
    (Aspect.READY, "True"): "Normal",
    (Aspect.PROGRESSING, "True"): "Normal",
    (Aspect.DEGRADED, "True"): "Warning",
    (Aspect.STALLED, "True"): "Warning",
    (Aspect.SUSPENDED, "True"): "Normal",
}
"""What is worth an event when a condition comes to say it."""
_ON_THE_WAY = {Why.NOT_PLANNED_YET, Why.NOT_ACCEPTED}
"""Reasons that say no more than that something else comes first."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something worth telling."""

    type: Type
    reason: str
    message: str


def events(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Event]:
    """The events between two statuses."""
    old = {one["type"]: one for one in before.get("conditions") or ()}
    told: set[str] = set()
    for new in after["conditions"]:
        was = old.get(new["type"])
        if was is not None and (was["status"], was["reason"]) == (new["status"], new["reason"]):
            continue
        type_ = _TOLD.get((Aspect(new["type"]), new["status"]))
        if type_ is None or new["reason"] in _ON_THE_WAY or new["message"] in told:
            continue
        if new["type"] == Aspect.STALLED and new["reason"] in told:
            continue  # the condition about the resource itself has told it
        told |= {new["reason"], new["message"]}
        yield Event(type_, new["reason"], new["message"])
