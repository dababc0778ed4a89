"""Observes how the newest driver ended, and what its ending counts as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from streamapp.backoff import Backoff
from streamapp.protocol.termination import RunOutcome
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.pods import RestartPolicy
from streamapp.spec.value_types.durations import milliseconds
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_history import DriverHistory, DriverOutcome, EndedDriver
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState, incarnation_of
from streamapp_operator.reconciler.facts.reported_texts import (
    ending_message,
    reported_reason,
    reported_text,
)

_OUTCOMES = {
    RunOutcome.DONE: DriverOutcome.DONE,
    RunOutcome.CONFIG: DriverOutcome.CONFIG,
    RunOutcome.RETRY: DriverOutcome.RETRY,
}
_DEFAULT_REASONS: Final[Mapping[RunOutcome, str]] = {
    RunOutcome.DONE: ConditionReason.COMPLETED,
    RunOutcome.CONFIG: Reason.INVALID_SPEC,
}
"""By outcome, the reason of a driver that says none, or one that is not known."""
"""Why drivers are given up that nobody has heard of."""


@dataclass(frozen=True, slots=True)
class RestartLimits:
    """The restart policy as numbers."""

    backoff: float
    longest: float
    reset_after: float
    most: int | None

    def wait(self, failures: int) -> float:
        """Seconds to wait after so many consecutive failures."""
        return Backoff(self.backoff, self.longest).seconds(failures)


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
    """The history with the state of the pods."""
    history = _without_future(history, now)
    by_incarnation: Mapping[int, PodState] = {incarnation_of(pod): pod for pod in drivers}
    pod = by_incarnation.get(history.incarnation)
    if not history.open:
        return history
    if pod is not None:
        observed = replace(history, uid=pod.uid, started_at=_started_at(history, pod, now))
        if pod.life is not PodLifecycle.ENDED:
            return observed
        seconds_run = _seconds_run(observed, pod)
        return _with_ending(observed, _ended_pod(observed, pod, now), seconds_run, limit)
    if not history.uid:
        return history  # its pod was never observed, so it may not have been created
    seconds_run = max(0.0, now - history.started_at) if history.started_at is not None else 0.0
    return _with_ending(history, _vanished_driver(history, now), seconds_run, limit)


def _without_future(history: DriverHistory, now: float) -> DriverHistory:
    """A history without times that are still to come: they were written by a clock that was wrong."""
    last = history.last and replace(history.last, at=min(history.last.at, now))
    started_at = None if history.started_at is None else min(history.started_at, now)
    return replace(history, last=last, started_at=started_at)


def _started_at(history: DriverHistory, pod: PodState, now: float) -> float | None:
    """The start of a driver, by the API server's clock: after its pod was made, and not after now."""
    if pod.started_at is None or (history.uid == pod.uid and history.started_at is not None):
        return history.started_at
    started_at = min(pod.started_at, now)
    return max(started_at, pod.made_at) if pod.made_at <= now else started_at


def _ended_pod(history: DriverHistory, pod: PodState, now: float) -> EndedDriver:
    termination = pod.ending
    ended_at = _ended_at(history, pod, now)
    if history.stopping == ConditionReason.NO_PROGRESS:
        return _hung_driver(history, pod.hung_seconds, ended_at)
    if history.stopping:
        return _ended_driver(
            history, DriverOutcome.STOPPED, history.stopping, "it was asked to end", ended_at
        )
    run_outcome = termination.outcome if termination else RunOutcome.RETRY
    if (pod.displaced or pod.leaving_since is not None) and run_outcome is not RunOutcome.CONFIG:
        reason = pod.displaced or ConditionReason.DELETED
        return _ended_driver(history, DriverOutcome.DISPLACED, reason, "its pod was taken away", ended_at)
    if pod.hung_seconds is not None:
        return _hung_driver(history, pod.hung_seconds, ended_at)
    default = _DEFAULT_REASONS.get(run_outcome, ConditionReason.DRIVER_FAILED)
    reason = reported_reason(termination.reason if termination else "", default)
    return replace(
        _ended_driver(history, _OUTCOMES[run_outcome], reason, ending_message(termination), ended_at),
        path=reported_text(termination.path) if termination else "",
    )


def _hung_driver(history: DriverHistory, seconds: float | None, ended_at: float) -> EndedDriver:
    duration = "" if seconds is None else f" for {seconds:.0f} s"
    message = f"it had made no progress{duration}, and was ended"
    return _ended_driver(history, DriverOutcome.LOST, ConditionReason.NO_PROGRESS, message, ended_at)


def _ended_at(history: DriverHistory, pod: PodState, now: float) -> float:
    """The end of a driver. The node's clock may be wrong, and only tells how long the driver ran."""
    return min(max(pod.ended_at or pod.made_at, pod.made_at + _seconds_run(history, pod)), now)


def _seconds_run(history: DriverHistory, pod: PodState) -> float:
    """The seconds that a driver ran; both times are of its node's clock, where the pod has both."""
    started_at = history.started_at if pod.started_at is None else pod.started_at
    return max(0.0, (pod.ended_at or pod.made_at) - started_at) if started_at is not None else 0.0


def _vanished_driver(history: DriverHistory, now: float) -> EndedDriver:
    if history.stopping == ConditionReason.NO_PROGRESS:
        return _hung_driver(history, None, now)
    if history.stopping:
        is_lost = history.stopping == ConditionReason.NODE_LOST
        outcome = DriverOutcome.LOST if is_lost else DriverOutcome.STOPPED
        return _ended_driver(history, outcome, history.stopping, "its pod no longer exists", now)
    return _ended_driver(
        history, DriverOutcome.DISPLACED, ConditionReason.DELETED, "its pod no longer exists", now
    )


def _ended_driver(
    history: DriverHistory, outcome: DriverOutcome, reason: str, message: str, ended_at: float
) -> EndedDriver:
    return EndedDriver(history.incarnation, history.generation, outcome, str(reason), message, ended_at)


def _with_ending(
    history: DriverHistory, ending: EndedDriver, seconds_run: float, limit: RestartLimits
) -> DriverHistory:
    """The history with this ending.

    Failures count, and removals by Kubernetes before the driver did any work. What somebody deletes by hand
    is no failure, however often.
    """
    failures_before = 0 if seconds_run >= limit.reset_after else history.failures
    match ending.outcome:
        case DriverOutcome.RETRY:
            failures = failures_before + 1
        case DriverOutcome.DISPLACED if ending.reason == ConditionReason.DELETED:
            failures = failures_before
        case DriverOutcome.DISPLACED | DriverOutcome.LOST | DriverOutcome.DONE:
            failures = failures_before + (seconds_run < limit.backoff)
        case _:
            failures = failures_before
    return replace(history, stopping="", failures=failures, last=ending)
