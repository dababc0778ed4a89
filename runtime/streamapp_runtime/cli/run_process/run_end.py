"""How a run ended, for whoever started it: the problems, and the last word."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from streamapp.protocol.termination import ExitCode, Termination
from streamapp.spec.problem import Problem


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run."""

    code: ExitCode
    message: str = ""
    problems: tuple[Problem, ...] = ()  # what is wrong with the app

    @property
    def ending(self) -> Termination:
        """The last word, in which the first problem speaks for all."""
        if not self.problems:
            return Termination.of(self.code, message=self.message)
        first = self.problems[0]
        return Termination.of(self.code, first.reason, first.path, first.message)

    def as_json(self) -> Iterator[str]:
        """A line for each problem, and last the outcome."""
        for problem in self.problems:
            fields = {"reason": problem.reason, "path": problem.path, "message": problem.message}
            yield json.dumps({"event": "problem"} | fields)
        yield self.ending.text()
