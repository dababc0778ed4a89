"""The outcome of a reconcile: done, or to be repeated after a delay."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReconcileDone:
    """Nothing to do until a watched object changes."""


@dataclass(frozen=True, slots=True)
class RequeueAfter:
    """Reconcile again after a delay, even if nothing changes."""

    seconds: float


ReconcileOutcome = ReconcileDone | RequeueAfter
