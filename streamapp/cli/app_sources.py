"""Reads the source of an app: a resource in YAML or JSON, a Python program, standard input."""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamapp.cli.output_option import asks_json, problems_document
from streamapp.spec.parser import ParseResult, parse
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.text.document import MOST_BYTES

if TYPE_CHECKING:
    from streamapp.plan.partition_plan import Plan

REJECTED_EXIT = 1


def parse_source(source: str) -> ParseResult:
    """The apps and problems of a source; a missing source is a usage error."""
    if source == "-":
        return parse(sys.stdin.buffer.read(MOST_BYTES + 1).decode("utf-8", errors="replace"))
    path = Path(source)
    if path.suffix == ".py" and path.is_file():
        from streamapp.cli.documents.python_program import (
            parse_program,  # which takes a resource's time again
        )

        return parse_program(path)
    try:
        with path.open("rb") as file:
            return parse(file.read(MOST_BYTES + 1).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return ParseResult(
            (), (Problem(0, 0, "", f"this is no UTF-8 text: {error.reason} at byte {error.start}"),)
        )
    except OSError as error:
        raise click.UsageError(f"cannot read {source}: {error.strerror}") from None


def read_source(source: str) -> ParseResult:
    """The apps of a source; problems are all reported, and the command exits with 1."""
    parsed = parse_source(source)
    if parsed.problems:
        report_problems(source, parsed.problems)
        sys.exit(REJECTED_EXIT)
    return parsed


def read_apps(source: str) -> tuple[StreamApp, ...]:
    """The apps of a source; problems are all reported, and the command exits with 1."""
    return read_source(source).apps


def startable_source(source: str) -> ParseResult:
    """A source whose apps all could start as far as that is known without their streams."""
    parsed = parse_source(source)
    late_problems = (located_start_problems(parsed, app) for app in parsed.apps)
    problems = (*parsed.problems, *chain.from_iterable(late_problems))
    if problems:
        report_problems(source, problems)
        sys.exit(REJECTED_EXIT)
    return parsed


def located_start_problems(parsed: ParseResult, app: StreamApp) -> tuple[Problem, ...]:
    """Why an app cannot start, whatever its streams are, with the lines of the text that it comes from."""
    from streamapp.author.start_problems import start_problems

    return parsed.located(app, start_problems(app))


def located_plan(parsed: ParseResult, app: StreamApp, planned: "Plan") -> "Plan":
    """A plan whose errors have the lines of the text that the app comes from."""
    from streamapp.author.problems import field_path

    paths = [error.path or field_path(app, error.operator or "") for error in planned.errors]
    located = parsed.located(app, [Problem(0, 0, path, "") for path in paths])
    errors = [
        replace(error, path=path, line=problem.line if path else 0)
        for error, path, problem in zip(planned.errors, paths, located, strict=True)
    ]
    return replace(planned, errors=tuple(errors))


def one_app(source: str, name: str | None) -> StreamApp:
    """The app of that name, or the only one."""
    return select_app(read_apps(source), source, name)


def select_app(apps: tuple[StreamApp, ...], source: str, name: str | None) -> StreamApp:
    """The app of that name among those of a source, or the only one."""
    matching_apps = [app for app in apps if name in {None, app.metadata.name}]
    if len(matching_apps) == 1:
        return matching_apps[0]
    names = ", ".join(app.metadata.name for app in apps)
    raise click.UsageError(f"{source} holds the apps {names}; choose one with --app")


def report_problems(source: str, problems: tuple[Problem, ...]) -> None:
    """Print the problems on standard error, and as the answer where that was to be JSON."""
    if asks_json(click.get_current_context()):
        click.echo(json.dumps(problems_document(problems), indent=2))
    print_problems(source, problems)


def print_warnings(source: str, warnings: Iterable[Problem]) -> None:
    """Print the warnings on standard error."""
    for warning in warnings:
        click.echo(f"{source}: warning: {warning}", err=True)


def print_problems(source: str, problems: tuple[Problem, ...]) -> None:
    """Print the problems on standard error."""
    for problem in problems:
        click.echo(f"{source}: {problem}", err=True)
    count = len(problems)
    click.echo(f"{source}: {count} problem{'s' if count > 1 else ''}", err=True)
