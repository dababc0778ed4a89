"""What a reconcile decided: what to write before the status, the status, and what to write after it.

The status goes between: what it says is going to be done can be done again by whoever reads it. Nothing is
destroyed and no driver is made before the status says so.
"""

from dataclasses import dataclass
from typing import Any, Literal

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind

EventType = Literal["Normal", "Warning"]


@dataclass(frozen=True, slots=True)
class StatusEvent:
    """Something worth telling."""

    type: EventType
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Create:
    """Make an object that must not be there yet."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Apply:
    """Make an object so."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Delete:
    """Take an object away; only the one with this uid, where one is given."""

    kind: ResourceKind
    name: str
    uid: str | None = None
    grace_seconds: int | None = None


Write = Create | Apply | Delete


@dataclass(frozen=True, slots=True)
class ReconcileDecision:
    """All that follows from the facts."""

    before: tuple[Write, ...]
    status: dict[str, Any]
    after: tuple[Write, ...]
    events: tuple[StatusEvent, ...]
    again: float | None  # seconds; None: when something changes
