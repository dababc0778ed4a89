"""The refusal of an app that cannot run as it is."""

from streamapp.author.proposal import Proposal
from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.start.operator_checks import path_of


class AppRefusedError(Exception):
    """The app cannot run as it is: the problems say why; trying again changes nothing."""

    def __init__(self, problems: list[Problem], proposal: Proposal | None = None) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems
        self.proposal = proposal


def problem_of(app: StreamApp, refusal: Refusal) -> Problem:
    """A refusal of tasks or places, with the path of the field that it is about."""
    grouper = refusal.reason in {Reason.GROUPER_INVALID, Reason.GROUPER_CHANGED}
    path = "spec.grouper" if grouper else path_of(app, refusal.path.partition("#")[0])
    return Problem(0, 0, path, f"{refusal.message}; {refusal.hint}", refusal.reason)
