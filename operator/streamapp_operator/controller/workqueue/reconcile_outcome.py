"""What a reconcile, or one step of it, says about how to go on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReconcileDone:
    """Nothing is left to do until something changes."""


@dataclass(frozen=True, slots=True)
class RequeueAfter:
    """Look again after a while, even if nothing changes."""

    seconds: float


ReconcileOutcome = ReconcileDone | RequeueAfter
