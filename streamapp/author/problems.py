"""Why an app has no tasks, as problems with the paths of the fields that they are about."""

from streamapp.author.proposal import Proposal
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.refusal import Refusal

_GROUPER_REASONS = frozenset({Reason.GROUPER_INVALID, Reason.GROUPER_CHANGED})


def field_path(app: StreamApp, name: str) -> str:
    """The field path of an operator, a part of one, or a stream; what is no name stays as it is."""
    whole = name.partition("/")[0]
    for index, operator in enumerate(app.spec.operators):
        if whole in {operator.name, app.intermediate_stream(operator.name)}:
            return f"spec.operators[{index}].{operator.kind}"
    names = [stream.name for stream in app.spec.streams]
    return f"spec.streams[{names.index(whole)}]" if whole in names else name


def refusal_problem(app: StreamApp, refusal: Refusal) -> Problem:
    """A refusal of tasks or of places, with the path of the field that it is about."""
    if refusal.reason in _GROUPER_REASONS:
        path = "spec.grouper"
    else:
        path = field_path(app, refusal.path.partition("#")[0])
    return Problem(0, 0, path, f"{refusal.message}; {refusal.hint}", refusal.reason)


def task_problems(app: StreamApp, proposal: Proposal) -> tuple[Problem, ...]:
    """The problem of tasks that could not be formed; empty where they could."""
    return (refusal_problem(app, proposal.tasks),) if isinstance(proposal.tasks, Refusal) else ()


def proposal_problems(app: StreamApp, proposal: Proposal) -> tuple[Problem, ...]:
    """Every reason why a proposal has no tasks; none where it has."""
    return task_problems(app, proposal) or tuple(
        Problem(
            0,
            0,
            error.path or field_path(app, error.operator or ""),
            f"{error.message}; {error.hint}" if error.hint else error.message,
            error.reason,
        )
        for error in proposal.plan.errors
    )
