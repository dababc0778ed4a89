"""What the operations and formats of a compiled app cannot do, told before anything is started."""

from collections.abc import Iterator, Mapping, Sequence

from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp_runtime.formats.opening import UnfitFormatError
from streamapp_runtime.lanes.executors import executor
from streamapp_runtime.lanes.forms import form
from streamapp_runtime.operations.executor import UnsupportedOperationError
from streamapp_runtime.operations.user_code import UserCodeError
from streamapp_runtime.program.operations import Read, Write
from streamapp_runtime.program.program import Task
from streamapp_runtime.program.side_inputs import FILL


def unfit_operators(app: StreamApp, tasks: Sequence[Task], avro: Mapping[str, str]) -> list[Problem]:
    """Every operator and stream of which it is known now that no row will pass, with its path."""
    return sorted(set(_problems(app, tasks, avro)))


def _problems(app: StreamApp, tasks: Sequence[Task], avro: Mapping[str, str]) -> Iterator[Problem]:
    for task in tasks:
        operation = task.operation
        try:
            if isinstance(operation, Read | Write):
                form(task, avro)
            else:
                executor(task).close()
        except UnfitFormatError as error:
            path = path_of(app, operation.stream if isinstance(operation, Read | Write) else task.name)
            yield Problem(0, 0, path, f"{error.message}; {error.hint}", Reason.INVALID_SPEC)
        except (UnsupportedOperationError, UserCodeError) as error:
            yield Problem(0, 0, path_of(app, task.name), f"{error.message}; {error.hint}", error.reason)


def path_of(app: StreamApp, name: str) -> str:
    """Where an operator, a part of one, or a stream stands; what is no name stays as it is."""
    whole, _, part = name.partition("/")
    if part.startswith(FILL):
        tables = [table.name for table in app.spec.tables]
        number = part.removeprefix(FILL).partition("/")[0]
        return f"spec.tables[{tables.index(whole)}].sideInputs[{number}]"
    for index, operator in enumerate(app.spec.operators):
        if whole in {operator.name, app.intermediate_stream(operator.name)}:
            return f"spec.operators[{index}].{operator.kind}"
    names = [stream.name for stream in app.spec.streams]
    return f"spec.streams[{names.index(whole)}]" if whole in names else name
