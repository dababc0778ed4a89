"""Texts that an app's driver wrote, before they become part of a condition, an event or the status.

A driver runs the app's code, so that its words are those of a stranger.
"""

from typing import Final

from streamapp.plan.render.display_names import legible
from streamapp.protocol.termination import Termination
from streamapp.spec.reasons import Reason

MOST_CHARACTERS: Final = 2_000
_REASONS: Final = frozenset(Reason)


def reported_reason(reason: str, default: str) -> str:
    """The reason if it is one that this operator knows, else the default."""
    return reason if reason in _REASONS else default


def ending_message(ending: Termination | None) -> str:
    """What a driver said as it ended."""
    return reported_text(ending.message if ending else "") or "it said nothing"


def reported_text(text: str) -> str:
    """The text, cut and without control characters other than line ends."""
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."
    return "\n".join(map(legible, cut.split("\n")))
