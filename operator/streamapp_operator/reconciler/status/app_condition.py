"""A condition in the status of an app."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from streamapp.spec.problem import Problem
from streamapp_operator.reconciler.facts.timestamps import format_timestamp, parse_timestamp

MAX_CONDITION_MESSAGE = 32_000
ConditionStatus = Literal["True", "False", "Unknown"]


class ConditionType(StrEnum):
    """The types of conditions."""

    ACCEPTED = "Accepted"
    PLANNED = "Planned"
    LAUNCHED = "Launched"
    READY = "Ready"
    PROGRESSING = "Progressing"
    DEGRADED = "Degraded"
    STALLED = "Stalled"
    SUSPENDED = "Suspended"
    CONFIGURATION_OUTDATED = "ConfigurationOutdated"
    RECONCILIATION_PAUSED = "ReconciliationPaused"


EXPECTED_STATUS: Mapping[str, str] = {
    ConditionType.ACCEPTED: "True",
    ConditionType.PLANNED: "True",
    ConditionType.LAUNCHED: "True",
    ConditionType.READY: "True",
    ConditionType.PROGRESSING: "False",
    ConditionType.DEGRADED: "False",
    ConditionType.STALLED: "False",
    ConditionType.SUSPENDED: "False",
    ConditionType.CONFIGURATION_OUTDATED: "False",
    ConditionType.RECONCILIATION_PAUSED: "False",
}
"""The statuses of the conditions of an app that runs and of which nothing is the matter."""


@dataclass(frozen=True, slots=True)
class AppCondition:
    """The status of one condition, with its reason and the generation that it is about."""

    type: ConditionType
    status: ConditionStatus
    reason: str
    message: str
    generation: int

    def as_status(self, before: Mapping[str, Mapping[str, Any]], now: float) -> dict[str, Any]:
        """The entry in the status; the time of its last transition stays while its status does.

        A time that is still to come was written by a clock that was wrong, and does not stay.
        """
        previous = before.get(self.type, {})
        since = parse_timestamp(previous.get("lastTransitionTime"))
        unchanged = previous.get("status") == self.status and since is not None and since <= now
        return {
            "type": self.type.value,
            "status": self.status,
            "reason": str(self.reason),
            "message": self.message[:MAX_CONDITION_MESSAGE],
            "lastTransitionTime": previous["lastTransitionTime"] if unchanged else format_timestamp(now),
            "observedGeneration": self.generation,
        }


def true_condition(type_: ConditionType, reason: str, message: str, generation: int) -> AppCondition:
    """A condition that holds."""
    return AppCondition(type_, "True", reason, message, generation)


def false_condition(type_: ConditionType, reason: str, message: str, generation: int) -> AppCondition:
    """A condition that does not hold."""
    return AppCondition(type_, "False", reason, message, generation)


def problem_lines(problems: Iterable[Problem]) -> str:
    """All problems, one line each."""
    return "\n".join(str(problem) for problem in problems)
