"""Which remote tables cannot be asked as they are declared, told before anything is started."""

from collections.abc import Iterator

from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.operators.user_code.loader import UserCodeError
from streamapp_runtime.program.program import Program
from streamapp_runtime.remote.remote_class import WrongColumnsError, check_remote_class
from streamapp_runtime.remote.remote_settings import remote_settings


def unfit_remote_tables(app: StreamApp, program: Program) -> list[Problem]:
    """Every remote table whose class is not there, is no such class, or refuses what it is told."""
    return list(_problems(app, program))


def _problems(app: StreamApp, program: Program) -> Iterator[Problem]:
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
