"""An app's plan as notebooks display it: a drawing, or the problems of an app that has none."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from streamapp.author.app_streams import declared_topics
from streamapp.author.problems import proposal_problems, task_problems
from streamapp.author.proposal import PlanningInputs, propose, rejected_for
from streamapp.author.start_problems import start_problems
from streamapp.plan.render.forms import FORMS
from streamapp.spec.parser import ParseResult
from streamapp.spec.problem import Problem, ReadableError, nearest


class UndeclaredStreamError(ReadableError, ValueError):
    """Partitions are given of a stream that the app does not declare."""


@dataclass(frozen=True, slots=True)
class PlanView:
    """The plan of an app, or what is wrong with the app."""

    name: str
    text: str
    svg: str
    problems: tuple[Problem, ...]
    hints: tuple[str, ...] = ()  # with which messages of problems end

    @property
    def is_accepted(self) -> bool:
        """True if the app would start."""
        return not self.problems

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """The display in Jupyter: the drawing, or the problems over it."""
        if not self.problems:
            return {"image/svg+xml": self.svg, "text/plain": str(self)}
        return {"text/html": "".join(self._html()), "text/plain": str(self)}

    def _html(self) -> Iterator[str]:
        count = len(self.problems)
        yield f"<p><strong>{escape(self.name)}: {count} problem{'s' if count > 1 else ''}</strong></p><ul>"
        for problem in self.problems:
            fix = next((hint for hint in self.hints if problem.message.endswith(f"; {hint}")), "")
            message = problem.message.removesuffix(f"; {fix}")
            yield f"<li><code>{escape(problem.reason)}</code> "
            yield f"<code>{escape(problem.path)}</code><br>" if problem.path else "<br>"
            yield escape(message) + (f"<br><em>To fix it:</em> {escape(fix)}" if fix else "") + "</li>"
        yield f"</ul>{self.svg}"


def plan_view(name: str, parsed: ParseResult, partitions: int | Mapping[str, int]) -> PlanView:
    """The plan of an app whose input streams have these partitions; a stream that is not named has one."""
    if not parsed.apps or parsed.problems:
        return PlanView(name, "\n".join(map(_line, parsed.problems)), "", parsed.problems)
    (app,) = parsed.apps
    named = partitions if isinstance(partitions, Mapping) else {}
    streams = [*declared_topics(app)]
    for stream in named:
        if stream not in streams:
            raise UndeclaredStreamError(f'partitions: no stream "{stream}"{nearest(stream, streams)}')
    default = 1 if isinstance(partitions, Mapping) else partitions
    counts = {stream: named.get(stream, default) for stream in streams}
    proposal = propose(app, PlanningInputs(counts, counted_by=dict.fromkeys(streams, "partitions=")))
    early_problems = start_problems(app)
    planned = rejected_for(app, proposal.plan, (*early_problems, *task_problems(app, proposal)))
    problems = (*early_problems, *proposal_problems(app, proposal))
    text, svg = (FORMS[form](name, proposal.graph, planned, False) for form in ("text", "svg"))
    hints = tuple(error.hint for error in proposal.plan.errors)
    return PlanView(name, text.rstrip(), svg, problems, hints)


def _line(problem: Problem) -> str:
    return f"{problem.reason}: {problem}"
