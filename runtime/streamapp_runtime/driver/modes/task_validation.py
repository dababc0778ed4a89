"""Answers of an app's own functions for today's streams, asked by the driver: the operator may not ask."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.author.names import processor_names
from streamapp.author.problems import proposal_problems
from streamapp.spec.problem import Problem
from streamapp.tasks.user_answers import UserAnswers, known_counts, own_functions
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.live_inputs import live_inputs
from streamapp_runtime.driver.start.user_functions import proposed_with_answers


@dataclass(frozen=True, slots=True)
class TaskValidation:
    """The answers by which tasks can be formed, and what is wrong with the streams or functions of today."""

    answers: UserAnswers | None = None  # None where there are no tasks, or no functions of the app's own
    problems: tuple[Problem, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)  # of the streams that were looked at


def validate_tasks(context: AppContext, now: float) -> TaskValidation:
    """Form tasks for today's streams; where that is refused, for the streams before they grew."""
    app = context.app
    if not own_functions(app):
        return TaskValidation()
    inputs = live_inputs(context, processor_names(app.spec.processors), now)
    counts = known_counts(inputs.counts)
    try:
        proposal, answers = proposed_with_answers(app, inputs)
        if answers is not None:
            return TaskValidation(answers, (), counts)
        problems = proposal_problems(app, proposal)
        before = inputs.before_growth()
        if before != inputs:
            _, answers = proposed_with_answers(app, before)
        return TaskValidation(answers, problems, counts)
    except AppRefusedError as refused:  # a function that does not answer
        return TaskValidation(None, tuple(refused.problems), counts)
