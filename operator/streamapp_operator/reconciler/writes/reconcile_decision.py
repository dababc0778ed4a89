"""The decision of a reconcile: the writes before the status, the status, and the writes after it.

The status announces the later writes, so that the next reconcile can repeat them after a crash. No object is
deleted and no driver is created before the status announces it.
"""

from dataclasses import dataclass
from typing import Any, Literal

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind

EventType = Literal["Normal", "Warning"]


@dataclass(frozen=True, slots=True)
class StatusEvent:
    """An event to publish with the status."""

    type: EventType
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Create:
    """Create an object that must not exist yet."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply an object server-side."""

    manifest: Manifest
    must_exist: bool = False  # of an object that is gone nothing is applied: it would have no owner


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object; only the one with this uid, unless it is None."""

    kind: ResourceKind
    name: str
    uid: str | None = None
    grace_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class CreateRunSecret:
    """Create the Secret of a driver's run, unless it is there. What is in it is made when it is written."""

    driver: str


@dataclass(frozen=True, slots=True)
class Adopt:
    """Make the app the owner of an object as it was seen; what else is in the object stays."""

    manifest: Manifest
    last_generation: int = 0  # of the deleted app, where the object is one of its accepted generations


Write = Create | Apply | Delete | CreateRunSecret | Adopt


@dataclass(frozen=True, slots=True)
class ReconcileDecision:
    """The writes, the status and the events of one reconcile."""

    before: tuple[Write, ...]
    status: dict[str, Any]
    after: tuple[Write, ...]
    events: tuple[StatusEvent, ...]
    requeue_after: float | None  # seconds; None: only when an object changes
    dry_run: tuple[tuple[str, Manifest], ...] = ()  # by path: pods to ask about before any of this is done
    restores: tuple[Apply, ...] = ()  # of what somebody took from a running driver
    processors: int | None = None  # to be set in the resource, by autoscaling
    internal_error: Exception | None = None  # after which the newest generation was refused
