"""One aspect of an app, as it is told."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from streamapp.spec.problem import Problem
from streamapp_operator.facts.times import written

LONGEST_MESSAGE = 32_000


class Aspect(StrEnum):
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
class Condition:
    """Whether an aspect holds, why, and of which generation that is said."""

    aspect: Aspect
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
            "message": self.message[:LONGEST_MESSAGE],
            "lastTransitionTime": old["lastTransitionTime"] if same else written(now),
            "observedGeneration": self.generation,
        }


def holds(aspect: Aspect, reason: str, message: str, generation: int) -> Condition:
    """It is so."""
    return Condition(aspect, "True", reason, message, generation)


def fails(aspect: Aspect, reason: str, message: str, generation: int) -> Condition:
    """It is not so."""
    return Condition(aspect, "False", reason, message, generation)


def unknown(aspect: Aspect, reason: str, message: str, generation: int) -> Condition:
    """Nobody knows yet."""
    return Condition(aspect, "Unknown", reason, message, generation)


def told(problems: Iterable[Problem]) -> str:
    """All problems, a line for each."""
    return "\n".join(str(problem) for problem in problems)
