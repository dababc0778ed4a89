"""The ending of a run, in the few bytes that outlive it: an exit code, and a message in JSON.

A process may also end without a word: killed, out of memory, or unable to start. Then the exit code alone
is there, and only 0 is taken at its word; a fault of the app has to be told, not guessed.
"""

import json
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, Final

MOST_BYTES: Final = 4_096
"""What Kubernetes keeps of a termination message."""
_LONGEST_MESSAGE: Final = 2_500


class RunOutcome(StrEnum):
    """The action that an ending calls for."""

    DONE = "done"  # nothing
    CONFIG = "config"  # change the app: trying again as it is changes nothing
    RETRY = "retry"  # try again


class ExitCode(IntEnum):
    """The exit code of a run."""

    DONE = 0
    CONFIG = 1
    MISUSE = 2  # as click says it: the command, or this machine, is not as it has to be
    RETRY = 3


_OUTCOMES: Final = {
    ExitCode.DONE: RunOutcome.DONE,
    ExitCode.CONFIG: RunOutcome.CONFIG,
    ExitCode.MISUSE: RunOutcome.CONFIG,
    ExitCode.RETRY: RunOutcome.RETRY,
}


@dataclass(frozen=True, slots=True)
class Termination:
    """The last word of a run."""

    code: int
    outcome: RunOutcome
    reason: str = ""
    path: str = ""  # the field that is wrong, where one is
    message: str = ""

    @classmethod
    def of(cls, code: ExitCode, reason: str = "", path: str = "", message: str = "") -> "Termination":
        """The ending that a code stands for."""
        return cls(code, _OUTCOMES[code], reason, path, message)

    def text(self) -> str:
        """One line of JSON; a long message is cut, never the rest."""
        text = self._text(self.message)
        cut = _LONGEST_MESSAGE
        while len(text.encode()) > MOST_BYTES and cut:
            text, cut = self._text(self.message[:cut] + "..."), cut // 2
        return text

    def _text(self, message: str) -> str:
        ending = {"outcome": self.outcome, "reason": self.reason, "path": self.path, "message": message}
        return json.dumps(ending)


def termination_of(code: int, text: str) -> Termination:
    """The ending of a process, from its exit code and what it left behind; it may have left anything."""
    ending = _last_object(text)
    if ending is not None and ending.get("outcome") in set(RunOutcome):
        outcome = RunOutcome(ending["outcome"])
        words = (str(ending.get(name) or "") for name in ("reason", "path", "message"))
        if (outcome is RunOutcome.DONE) == (code == ExitCode.DONE):
            return Termination(code, outcome, *words)
    if code == ExitCode.DONE:
        return Termination.of(ExitCode.DONE)
    output_tail = text.strip()[-_LONGEST_MESSAGE:]
    return Termination(
        code,
        RunOutcome.RETRY,
        message=f"it ended with exit code {code}" + f": {output_tail}" * bool(output_tail),
    )


def _last_object(text: str) -> dict[str, Any] | None:
    lines = text.strip().splitlines()
    try:
        last_object = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        return None
    return last_object if isinstance(last_object, dict) else None
