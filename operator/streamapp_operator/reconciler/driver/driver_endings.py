"""What became of the newest driver: its pod ended, or is gone, and what that counts as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from streamapp.protocol.termination import RunOutcome
from streamapp.spec.resource.pods import RestartPolicy
from streamapp.spec.value_types.durations import milliseconds
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_history import DriverHistory, DriverOutcome, EndedDriver
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState, incarnation_of

_OUTCOMES = {
    RunOutcome.DONE: DriverOutcome.DONE,
    RunOutcome.CONFIG: DriverOutcome.CONFIG,
    RunOutcome.RETRY: DriverOutcome.RETRY,
}


@dataclass(frozen=True, slots=True)
class RestartLimits:
    """The restart policy as numbers."""

    backoff: float
    longest: float
    reset_after: float
    most: int | None

    def wait(self, failures: int) -> float:
        """How long to wait after so many failures in a row."""
        return min(self.longest, self.backoff * 2 ** min(failures - 1, 40)) if failures else 0.0


def restart_limits(policy: RestartPolicy) -> RestartLimits:
    """The limits of an app's restart policy."""
    return RestartLimits(
        backoff=milliseconds(policy.backoff) / 1000,
        longest=milliseconds(policy.max_backoff) / 1000,
        reset_after=milliseconds(policy.reset_after) / 1000,
        most=policy.max_restarts,
    )


def observe_ending(
    history: DriverHistory, drivers: Sequence[PodState], now: float, limit: RestartLimits
) -> DriverHistory:
    """The history with what the pods tell."""
    by_number: Mapping[int, PodState] = {incarnation_of(pod): pod for pod in drivers}
    pod = by_number.get(history.incarnation)
    if not history.open:
        return history
    if pod is not None:
        seen = replace(history, uid=pod.uid, started_at=pod.started_at or history.started_at)
        return _judged(seen, _ended(seen, pod), limit) if pod.life is PodLifecycle.ENDED else seen
    if not history.uid:
        return history  # its pod was never seen, so it may never have been made: it did nothing
    return _judged(history, _vanished(history, now), limit)


def _ended(history: DriverHistory, pod: PodState) -> EndedDriver:
    told = pod.ending
    at = pod.ended_at or pod.made_at
    if history.stopping:
        return _past(history, DriverOutcome.STOPPED, history.stopping, "it was asked to end", at)
    word = told.outcome if told else RunOutcome.RETRY
    if (pod.displaced or pod.leaving_since is not None) and word is not RunOutcome.CONFIG:
        reason = pod.displaced or ConditionReason.DELETED
        return _past(history, DriverOutcome.DISPLACED, reason, "its pod was taken away", at)
    reason = told.reason if told else ""
    default = ConditionReason.COMPLETED if word is RunOutcome.DONE else ConditionReason.DRIVER_FAILED
    message = (told.message if told else "") or "it said nothing"
    return replace(
        _past(history, _OUTCOMES[word], reason or default, message, at), path=told.path if told else ""
    )


def _vanished(history: DriverHistory, now: float) -> EndedDriver:
    if history.stopping:
        outcome = (
            DriverOutcome.LOST if history.stopping == ConditionReason.NODE_LOST else DriverOutcome.STOPPED
        )
        return _past(history, outcome, history.stopping, "its pod is gone", now)
    return _past(history, DriverOutcome.DISPLACED, ConditionReason.DELETED, "its pod is gone", now)


def _past(
    history: DriverHistory, outcome: DriverOutcome, reason: str, message: str, at: float
) -> EndedDriver:
    return EndedDriver(history.incarnation, history.generation, outcome, str(reason), message, at)


def _judged(history: DriverHistory, past: EndedDriver, limit: RestartLimits) -> DriverHistory:
    """Count it: a driver that failed, or one that was taken away before it could do anything."""
    ran = past.at - history.started_at if history.started_at is not None else 0.0
    before = 0 if ran >= limit.reset_after else history.failures
    match past.outcome:
        case DriverOutcome.RETRY:
            failures = before + 1
        case DriverOutcome.DISPLACED | DriverOutcome.LOST | DriverOutcome.DONE:
            failures = before + (ran < limit.backoff)
        case _:
            failures = before
    return replace(history, stopping="", failures=failures, last=past)
