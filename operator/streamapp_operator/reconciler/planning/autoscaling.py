"""The number of processors that an app should have by its load, and the time at which it is set.

More processors are asked for as soon as the load does, fewer only after they were enough for a while: then
the most that were asked for in that time. Each change has time to take effect before the next one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final

from streamapp.protocol.driver_report import Progress
from streamapp.spec.resource.runtime_policies import Autoscale
from streamapp.spec.value_types.durations import milliseconds
from streamapp_operator.reconciler.facts.timestamps import format_timestamp, parse_timestamp

GROWTH_SECONDS: Final = 60.0
"""So long the last change has to be ago before more processors are set, where the cooldown is no shorter."""
TOLERANCE: Final = 0.1
"""A utilization that is no farther from its target asks for no change."""
SAFE_UTILIZATION: Final = 80
"""Without a target of utilization, fewer processors may not be busier than this, in percent."""
MOST_GROWTH: Final = 2
"""By this factor one change raises the number at most; and lowers it."""


@dataclass(frozen=True, slots=True)
class AutoscaleState:
    """The state that is remembered from one look to the next; `status.autoscale`."""

    processors: int
    changed_at: float | None = None  # None: not since autoscaling began
    wanted: int | None = None
    low_since: float | None = None
    low_most: int | None = None
    message: str = ""
    bounded_by: str = ""  # what keeps `wanted` from what the load asks for

    def as_status(self) -> dict[str, Any]:
        """The entry in the status."""
        times = {"changedAt": self.changed_at, "lowSince": self.low_since}
        status = {
            "processors": self.processors,
            "wanted": self.wanted,
            "lowMost": self.low_most,
            "message": self.message or None,
            "boundedBy": self.bounded_by or None,
            **{name: None if time is None else format_timestamp(time) for name, time in times.items()},
        }
        return {name: value for name, value in status.items() if value is not None}

    @classmethod
    def of_status(cls, status: Mapping[str, Any], processors: int, now: float) -> "AutoscaleState":
        """The state in the status, with the number of now, by whoever it was set."""
        state = cls(
            status.get("processors", processors),
            parse_timestamp(status.get("changedAt")),
            status.get("wanted"),
            parse_timestamp(status.get("lowSince")),
            status.get("lowMost"),
        )
        if state.processors == processors:
            return state
        return cls(processors, changed_at=now)


@dataclass(frozen=True, slots=True)
class AutoscaleDecision:
    """The decision that follows from one look."""

    state: AutoscaleState
    processors: int | None = None  # to be set; None: the number stays
    look_after: float | None = None  # seconds, where time alone changes the decision


def autoscale(
    policy: Autoscale, state: AutoscaleState, progress: Progress | None, tasks: int | None, now: float
) -> AutoscaleDecision:
    """The number of processors to set now; `progress` is None while the app is being changed or restored."""
    current = state.processors
    if not policy.min <= current <= policy.max:
        bounded = min(max(current, policy.min), policy.max)
        message = f"{current} is not within {policy.min} and {policy.max}"
        return AutoscaleDecision(replace(state, wanted=bounded, message=message), bounded)
    if progress is None:
        quiet = replace(state, low_since=None, low_most=None, message="waits until the app runs as asked")
        return AutoscaleDecision(quiet)
    wanted, message = _wanted(policy, current, progress)
    wanted, bounded_by = _bounded(policy, wanted, tasks)
    if bounded_by:
        message = f"{message}; bounded by {bounded_by} {wanted}"
    state = replace(state, wanted=wanted, message=message, bounded_by=bounded_by)
    if wanted >= current:
        settled = replace(state, low_since=None, low_most=None)
        if wanted == current:
            return AutoscaleDecision(settled)
        return _set_after(settled, wanted, min(GROWTH_SECONDS, _cooldown(policy)), now)
    most = max(wanted, state.low_most or 0)
    since = now if state.low_since is None else min(state.low_since, now)
    low = replace(state, low_since=since, low_most=most)
    left = since + _cooldown(policy) - now
    if left > 0:
        return AutoscaleDecision(low, look_after=left)
    return _set_after(low, most, _cooldown(policy), now)


def _set_after(state: AutoscaleState, processors: int, pause: float, now: float) -> AutoscaleDecision:
    """Set the number, if the last change is so long ago; else look again then."""
    if processors == state.processors:
        return AutoscaleDecision(state)
    left = 0.0 if state.changed_at is None else min(state.changed_at, now) + pause - now
    return AutoscaleDecision(state, None, left) if left > 0 else AutoscaleDecision(state, processors)


def _wanted(policy: Autoscale, current: int, progress: Progress) -> tuple[int, str]:
    """The number of processors that the load asks for in one change, and the reason."""
    busy = progress.utilization
    demands: list[tuple[int, str]] = []
    if policy.target_lag is not None:
        demand = max(ceil(progress.lag / policy.target_lag), 1)
        demands.append((demand, f"lag at most {progress.lag}, {policy.target_lag} for each"))
    if policy.target_utilization is not None and busy is not None:
        ratio = busy / policy.target_utilization
        demand = current if abs(ratio - 1) <= TOLERANCE else max(ceil(current * ratio), 1)
        demands.append((demand, f"utilization {busy} %, target {policy.target_utilization} %"))
    wanted, message = max(demands, default=(current, "utilization is not known yet"))
    if wanted < current:
        # Lag says that there are too few processors, and never that there are too many.
        target = policy.target_utilization or SAFE_UTILIZATION
        enough = current if busy is None else min(ceil(current * busy / target), current)
        if enough > wanted:
            why = "utilization is not known yet" if busy is None else f"utilization {busy} %"
            wanted, message = enough, why
    return min(max(wanted, ceil(current / MOST_GROWTH)), current * MOST_GROWTH), message


def _bounded(policy: Autoscale, wanted: int, tasks: int | None) -> tuple[int, str]:
    """The wanted number within the bounds, and the bound that limits it; empty where none does."""
    if wanted < policy.min:
        return policy.min, "min"
    most, bound = policy.max, "max"
    if tasks is not None and max(tasks, policy.min) < most:
        most, bound = max(tasks, policy.min), "tasks"
    return (most, bound) if most < wanted else (wanted, "")


def _cooldown(policy: Autoscale) -> float:
    return milliseconds(policy.cooldown) / 1000
