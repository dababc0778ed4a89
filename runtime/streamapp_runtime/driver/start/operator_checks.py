"""Checks for what operations, formats and remote tables cannot do, made before anything is started."""

from collections.abc import Iterator, Mapping, Sequence

from streamapp.author.code_references import step_references
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.app_refusal import path_of
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.stream_format import UnfitFormatError
from streamapp_runtime.lanes.batches.task_executor import task_executor
from streamapp_runtime.lanes.records.stream_formats import task_format
from streamapp_runtime.operators.operation_executor import UnsupportedOperationError
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError, load_user_code
from streamapp_runtime.program.program import PlacedOperation, Program
from streamapp_runtime.remote.remote_class import WrongColumnsError, check_remote_class
from streamapp_runtime.remote.remote_settings import remote_settings


def unloadable_code(app: StreamApp) -> list[Problem]:
    """Every function and class of the app's own that cannot be loaded, which needs no Spark to be known."""
    errors = ((path, _load_error(python)) for path, python in step_references(app))
    return [Problem(0, 0, path, str(error), error.reason) for path, error in errors if error is not None]


def _load_error(python: str) -> UserCodeError | None:
    try:
        load_user_code(python)
    except UserCodeError as error:
        return error
    return None


def unfit_operators(
    app: StreamApp, tasks: Sequence[PlacedOperation], options: Mapping[str, FormatOptions]
) -> list[Problem]:
    """Every operator and stream of which it is known now that no row will pass, with its path."""
    return sorted(set(_problems(app, tasks, options)))


def _problems(
    app: StreamApp, tasks: Sequence[PlacedOperation], options: Mapping[str, FormatOptions]
) -> Iterator[Problem]:
    for task in tasks:
        operation = task.operation
        try:
            if isinstance(operation, Read | Write):
                task_format(task, options)
            else:
                task_executor(task).close()
        except UnfitFormatError as error:
            path = path_of(app, operation.stream if isinstance(operation, Read | Write) else task.name)
            yield Problem(0, 0, path, f"{error.message}; {error.hint}", Reason.INVALID_SPEC)
        except UnsupportedOperationError as error:
            yield Problem(0, 0, path_of(app, task.name), f"{error.message}; {error.hint}", error.reason)
        except UserCodeError as error:
            yield Problem(0, 0, path_of(app, task.name), str(error), error.reason)


def unfit_remote_tables(app: StreamApp, program: Program) -> list[Problem]:
    """Every remote table whose class is not there, is no such class, or refuses what it is told."""
    return list(_remote_problems(app, program))


def _remote_problems(app: StreamApp, program: Program) -> Iterator[Problem]:
    settings = remote_settings(app, program)
    for index, table in enumerate(app.spec.tables):
        if table.name not in settings:
            continue
        try:
            check_remote_class(settings[table.name])
        except UserCodeError as error:
            where = "columns" if isinstance(error, WrongColumnsError) else "remote.python"
            path = f"spec.tables[{index}].{where}"
            yield Problem(0, 0, path, f"{error.python} {error.message}; {error.hint}", error.reason)
