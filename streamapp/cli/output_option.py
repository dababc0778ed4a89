"""The option `-o` of verbs, aligned columns, and the form of a refusal where the answer was to be JSON."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import click

from streamapp.protocol.termination import ExitCode
from streamapp.spec.problem import Problem

JSON: Final = "json"
_CHOSEN: Final = "streamapp.output"


def output_option(*forms: str) -> Callable[..., Any]:
    """`-o`, of these forms; the first one is the default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        is_eager=True,
        callback=_remember,
    )


def _remember(context: click.Context, _: click.Parameter, form: str) -> str:
    context.meta[_CHOSEN] = form
    return form


def asks_json(context: click.Context) -> bool:
    """True if the verb that runs was asked for JSON."""
    return bool(context.meta.get(_CHOSEN) == JSON)


def problems_document(problems: Iterable[Problem]) -> dict[str, Any]:
    """Problems as every verb has them in JSON."""
    return {"problems": [_fields(problem) for problem in problems]}


def _fields(problem: Problem) -> dict[str, Any]:
    fields = {
        "reason": problem.reason.value,
        "path": problem.path,
        "message": problem.message,
        "document": problem.document,
        "line": problem.line,
    }
    return {name: value for name, value in fields.items() if value}


def echo_failure(message: str) -> None:
    """Print a failure that has no more than its sentence, such as a folder that is not there."""
    click.echo(json.dumps({"problems": [{"message": message}]}, indent=2))


class UnreachableError(click.ClickException):
    """A cluster or system does not answer, is busy, or denies access; a retry may help."""

    exit_code = ExitCode.RETRY


def aligned_columns(rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> Iterator[str]:
    """A line for each row; the columns of numbers stand to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
