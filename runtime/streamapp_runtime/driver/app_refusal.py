"""The refusal of an app that cannot run as it is, and the paths of the fields that it is about."""

from streamapp.author.problems import field_path
from streamapp.author.proposal import Proposal
from streamapp.spec.problem import Problem, ReadableError
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.operators.tables.side_input_compiler import FILL_PREFIX


class AppRefusedError(ReadableError):
    """The app cannot run as it is: the problems say why; trying again changes nothing."""

    def __init__(self, problems: list[Problem], proposal: Proposal | None = None) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems
        self.proposal = proposal


def path_of(app: StreamApp, name: str) -> str:
    """The path of an operator, a part of one, a stream or a side input; what is no name stays as it is."""
    whole, _, part = name.partition("/")
    if part.startswith(FILL_PREFIX):
        tables = [table.name for table in app.spec.tables]
        number = part.removeprefix(FILL_PREFIX).partition("/")[0]
        return f"spec.tables[{tables.index(whole)}].sideInputs[{number}]"
    return field_path(app, name)
