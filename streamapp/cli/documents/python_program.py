"""Reads the apps of a Python program by running it."""

import runpy
import sys
import traceback
from pathlib import Path

from pydantic import ValidationError

from streamapp.dsl import App
from streamapp.dsl.named_arguments import UnknownArgumentError
from streamapp.dsl.part_errors import part_error
from streamapp.installed_code import is_installed
from streamapp.spec.parser import ParseResult
from streamapp.spec.problem import Problem
from streamapp.spec.value_types.python_references import PythonReferenceError


def parse_program(path: Path) -> ParseResult:
    """The apps at the top level of a program; an error that it raises is a problem of the source."""
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        module_globals = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:  # an error of the user's program is a problem of the source
        return ParseResult((), (_program_problem(path, error),))
    finally:
        sys.path.pop(0)
    apps = list({id(value): value for value in module_globals.values() if isinstance(value, App)}.values())
    if not apps:
        return ParseResult((), (Problem(0, 0, "", "no App at the top level; write `app = App(...)`"),))
    results = [app.parsed() for app in apps]
    problems = tuple(problem for result in results for problem in result.problems)
    return ParseResult(tuple(app for result in results for app in result.apps), problems)


def _program_problem(path: Path, error: BaseException) -> Problem:
    """The error of a user's program, with the program's own line."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    own_line = error.lineno if isinstance(error, SyntaxError) and error.filename == str(path) else None
    place = own_line or (lines[-1] if lines else 0) or 0
    match error:
        case UnknownArgumentError() | PythonReferenceError():
            message = str(error)
        case ValidationError():
            message = part_error(error)
        case SyntaxError():
            message = f"{type(error).__name__}: {error.msg}"
        case _:
            message = f"{type(error).__name__}: {error}"
    return Problem(0, place, "", message + _module_place(path, error, frames))


def _module_place(path: Path, error: BaseException, frames: traceback.StackSummary) -> str:
    """The place of an error in a module beside the program; empty where the program itself raised it."""
    places = [(frame.filename, frame.lineno) for frame in frames]
    if isinstance(error, SyntaxError) and error.filename is not None:
        places.append((error.filename, error.lineno))
    folder = path.parent.resolve()
    own_places = [
        (Path(file), line)
        for file, line in places
        if Path(file).is_relative_to(folder) and not is_installed(Path(file))
    ]
    if not own_places or own_places[-1][0] == path.resolve():
        return ""
    file, line = own_places[-1]
    return f" (line {line} of {file.relative_to(folder)})"
