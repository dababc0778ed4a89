"""Reading what a verb is pointed at: a resource in YAML or JSON, a Python program, standard input."""

import runpy
import sys
import traceback
from pathlib import Path

import click

from streamapp.dsl import App
from streamapp.spec.parser import ParseResult, parse
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.text.document import MOST_BYTES

REJECTED_EXIT = 1


def parse_source(source: str) -> ParseResult:
    """The apps of a source, and what is wrong in it; a source that is not there is an error of use."""
    if source == "-":
        return parse(sys.stdin.buffer.read(MOST_BYTES + 1).decode("utf-8", errors="replace"))
    path = Path(source)
    if path.suffix == ".py":
        return _program(path)
    try:
        with path.open("rb") as file:
            return parse(file.read(MOST_BYTES + 1).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return ParseResult(
            (), (Problem(0, 0, "", f"this is no UTF-8 text: {error.reason} at byte {error.start}"),)
        )
    except OSError as error:
        raise click.UsageError(f"cannot read {source}: {error.strerror}") from None


def read_apps(source: str) -> tuple[StreamApp, ...]:
    """The apps of a source; where anything is wrong, all of it is told and the command ends with 1."""
    found = parse_source(source)
    if found.problems:
        report_problems(source, found.problems)
        sys.exit(REJECTED_EXIT)
    return found.apps


def one_app(source: str, name: str | None) -> StreamApp:
    """The app of that name, or the only one."""
    return select_app(read_apps(source), source, name)


def select_app(found: tuple[StreamApp, ...], source: str, name: str | None) -> StreamApp:
    """The app of that name among those of a source, or the only one."""
    chosen = [app for app in found if name in {None, app.metadata.name}]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(app.metadata.name for app in found)
    raise click.UsageError(f"{source} holds the apps {names}; choose one with --app")


def report_problems(source: str, problems: tuple[Problem, ...]) -> None:
    """Say what is wrong, on standard error."""
    for problem in problems:
        click.echo(f"{source}: {problem}", err=True)
    count = len(problems)
    click.echo(f"{source}: {count} problem{'s' if count > 1 else ''}", err=True)


def _program(path: Path) -> ParseResult:
    if not path.is_file():
        raise click.UsageError(f"cannot read {path}: No such file or directory")
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        names = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:  # whatever a user's program raises is told, not ours to raise
        return ParseResult((), (_raised(path, error),))
    finally:
        sys.path.pop(0)
    found = list({id(value): value for value in names.values() if isinstance(value, App)}.values())
    if not found:
        return ParseResult((), (Problem(0, 0, "", "no App at the top level; write `app = App(...)`"),))
    results = [app.parsed() for app in found]
    problems = tuple(problem for result in results for problem in result.problems)
    return ParseResult(tuple(app for result in results for app in result.apps), problems)


def _raised(path: Path, error: BaseException) -> Problem:
    """The user's own line, not the command's."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    place = line or (frames[-1].lineno if frames else 0) or 0
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return Problem(0, place, "", f"{type(error).__name__}: {said}")
