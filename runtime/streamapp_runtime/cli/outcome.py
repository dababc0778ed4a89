"""How a run ended: an exit code, and one word for whoever started it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from streamapp.spec.problem import Problem


class Code(IntEnum):
    """What a run exits with."""

    DONE = 0
    CONFIG = 1  # trying again changes nothing
    MISUSE = 2  # as click says it: the command, or this machine, is not as it has to be
    RETRY = 3  # the same may go well another time


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run."""

    code: Code
    message: str = ""
    problems: tuple[Problem, ...] = ()  # what is wrong with the app

    def as_json(self) -> Iterator[str]:
        """A line for each problem, and last the outcome, in which the first problem speaks for all."""
        for problem in self.problems:
            yield json.dumps({"event": "problem"} | _told(problem))
        last = (
            _told(self.problems[0]) if self.problems else {"reason": "", "path": "", "message": self.message}
        )
        yield json.dumps({"outcome": _OUTCOMES[self.code]} | last)


def _told(problem: Problem) -> dict[str, str]:
    return {"reason": problem.reason, "path": problem.path, "message": problem.message}


_OUTCOMES = {Code.DONE: "done", Code.CONFIG: "config", Code.MISUSE: "config", Code.RETRY: "retry"}
