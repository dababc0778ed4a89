"""The end of a run, for whoever started it: the problems, and the last word."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from streamapp.protocol.termination import ExitCode, Termination
from streamapp.spec.problem import Problem


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run."""

    code: ExitCode
    message: str = ""
    problems: tuple[Problem, ...] = ()  # what is wrong with the app
    log: Path | None = None  # where Spark's own output is, if it wrote anything

    @property
    def ending(self) -> Termination:
        """The last word, in which the first problem speaks for all."""
        if not self.problems:
            return Termination.of(self.code, message=self.message)
        first = self.problems[0]
        return Termination.of(self.code, first.reason, first.path, first.message)

    def redacted(self, redact: Callable[[str], str]) -> "RunEnd":
        """The same end with other texts: what they may not repeat is taken out."""
        problems = (
            replace(problem, path=redact(problem.path), message=redact(problem.message))
            for problem in self.problems
        )
        return replace(self, message=redact(self.message), problems=tuple(problems))

    def as_json(self) -> Iterator[str]:
        """A line for each problem, one for the file of Spark's output, and last the outcome."""
        for problem in self.problems:
            fields = {"reason": problem.reason, "path": problem.path, "message": problem.message}
            yield json.dumps({"event": "problem"} | fields)
        if self.log is not None:
            yield json.dumps({"event": "log", "path": str(self.log)})
        yield self.ending.text()
