"""`streamapp check`: whether the resource is valid, as far as that is known without planning."""

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import click

from streamapp.cli.output_option import JSON, output_option, problems_document

if TYPE_CHECKING:
    from streamapp.spec.resource.app import StreamApp

_LISTS: Final = {"streams": "stream", "tables": "table", "operators": "operator"}


@click.command(short_help="Check a resource and report all errors in it.")
@click.argument("app")
@output_option("text", JSON)
def check(app: str, output: str) -> None:
    """Check APP and report all errors in it, each with its place: fields, names, columns, expressions.

    At a start Spark checks the rest, such as the types of functions.

    APP is a YAML or JSON file, a Python program, or - for standard input. Exits with 0 when it is
    valid, with 1 when it has errors. Unused parts are only a warning: a table, a stream, an operator whose
    rows go nowhere. The same holds for user-defined code that is not on this machine.

    \b
    Example:
      streamapp check app.yaml
    """
    from streamapp.author.app_warnings import app_warnings
    from streamapp.cli.app_sources import print_warnings, startable_source
    from streamapp.cli.facts.code_lookup import code_warnings

    parsed = startable_source(app)
    answers = [_answer(parsed_app) for parsed_app in parsed.apps]
    warnings = [
        parsed.located(parsed_app, (*app_warnings(parsed_app), *code_warnings(parsed_app, app)))
        for parsed_app in parsed.apps
    ]
    if output == JSON:
        every_warning = problems_document(chain.from_iterable(warnings))["problems"]
        click.echo(json.dumps({"apps": answers, "warnings": every_warning}, indent=2))
        return
    for answer, app_warnings_found in zip(answers, warnings, strict=True):
        print_warnings(app, app_warnings_found)
        click.echo(_text(answer, len(app_warnings_found)))


def _answer(app: "StreamApp") -> dict[str, Any]:
    """An app by its name, and how much it has of what."""
    sizes = {kind: len(getattr(app.spec, kind)) for kind in _LISTS}
    return {"namespace": app.metadata.namespace, "name": app.metadata.name, **sizes}


def _text(answer: dict[str, Any], warnings: int) -> str:
    sizes = ", ".join(_counted(answer[kind], noun) for kind, noun in _LISTS.items())
    remark = f", {_counted(warnings, 'warning')}" if warnings else ""
    return f"{answer['namespace']}/{answer['name']}: {sizes}: valid{remark}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
