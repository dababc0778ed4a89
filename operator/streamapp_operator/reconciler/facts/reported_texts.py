"""Texts that an app's driver wrote, before they become part of a condition, an event or the status.

A driver runs the app's code, so that its words are those of a stranger.
"""

from typing import Final

from streamapp.plan.render.wording import legible
from streamapp.protocol.termination import Termination
from streamapp.spec.reasons import Reason
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.facts.pod_state import StartReason

MOST_CHARACTERS: Final = 2_000
_REASONS: Final = frozenset(Reason)
_START_REASONS: Final = frozenset({*StartReason, *ConditionReason, "Forbidden", "Invalid"})


def reported_reason(reason: str, default: str) -> str:
    """The reason if it is one that this operator knows, else the default."""
    return reason if reason in _REASONS else default


def refusal_reason(reason: str, default: str) -> str:
    """The reason of a refusal, which may be one of the operator or of Kubernetes; the default for another."""
    return reason if reason in _REASONS | _START_REASONS else default


def ending_message(ending: Termination | None) -> str:
    """The message of a driver as it ended."""
    return reported_text(ending.message if ending else "") or "it said nothing"


def reported_text(text: str) -> str:
    """The text, cut and without control characters other than line ends."""
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."
    return "\n".join(map(legible, cut.split("\n")))
