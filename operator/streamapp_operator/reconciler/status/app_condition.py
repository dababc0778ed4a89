"""One aspect of an app, as it is told."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from streamapp.spec.problem import Problem
from streamapp_operator.reconciler.facts.timestamps import format_timestamp

MAX_CONDITION_MESSAGE = 32_000


class ConditionType(StrEnum):
    """What conditions are about."""

    ACCEPTED = "Accepted"
    PLANNED = "Planned"
    LAUNCHED = "Launched"
    READY = "Ready"
    PROGRESSING = "Progressing"
    DEGRADED = "Degraded"
    STALLED = "Stalled"
    SUSPENDED = "Suspended"


@dataclass(frozen=True, slots=True)
class AppCondition:
    """Whether an aspect holds, why, and of which generation that is said."""

    aspect: ConditionType
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str
    generation: int

    def as_status(self, before: Mapping[str, Mapping[str, Any]], now: float) -> dict[str, Any]:
        """As it stands in the status; the time of its last change stays while it says the same."""
        old = before.get(self.aspect, {})
        same = old.get("status") == self.status and old.get("lastTransitionTime")
        return {
            "type": self.aspect.value,
            "status": self.status,
            "reason": str(self.reason),
            "message": self.message[:MAX_CONDITION_MESSAGE],
            "lastTransitionTime": old["lastTransitionTime"] if same else format_timestamp(now),
            "observedGeneration": self.generation,
        }


def true_condition(aspect: ConditionType, reason: str, message: str, generation: int) -> AppCondition:
    """It is so."""
    return AppCondition(aspect, "True", reason, message, generation)


def false_condition(aspect: ConditionType, reason: str, message: str, generation: int) -> AppCondition:
    """It is not so."""
    return AppCondition(aspect, "False", reason, message, generation)


def unknown_condition(aspect: ConditionType, reason: str, message: str, generation: int) -> AppCondition:
    """Nobody knows yet."""
    return AppCondition(aspect, "Unknown", reason, message, generation)


def problem_lines(problems: Iterable[Problem]) -> str:
    """All problems, a line for each."""
    return "\n".join(str(problem) for problem in problems)
