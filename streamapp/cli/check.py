"""`streamapp check`: whether the resource is valid, as far as that is known without planning."""

import click


@click.command(short_help="Read a resource and say all that is wrong in it.")
@click.argument("app")
def check(app: str) -> None:
    """Read APP and say all that is wrong in it, each with its place: fields, names, columns, expressions.

    A start has Spark judge what is not sure without it, such as the types of functions.

    APP is a YAML or JSON file, a Python program, or - for standard input. Exits with 0 when nothing is
    wrong, with 1 when something is. What is named and not used is no more than a warning: a table, a stream,
    an operator whose rows go nowhere.

    \b
    Example:
      streamapp check app.yaml
    """
    from streamapp.author.app_warnings import app_warnings
    from streamapp.cli.app_sources import startable_source

    parsed = startable_source(app)
    for parsed_app in parsed.apps:
        warnings = parsed.located(parsed_app, app_warnings(parsed_app))
        for warning in warnings:
            click.echo(f"{app}: warning: {warning}", err=True)
        remark = f", {len(warnings)} warning{'s' * (len(warnings) > 1)}" if warnings else ""
        lists = {
            "stream": parsed_app.spec.streams,
            "table": parsed_app.spec.tables,
            "operator": parsed_app.spec.operators,
        }
        size_text = ", ".join(
            f"{len(entries)} {noun}{'s' * (len(entries) != 1)}" for noun, entries in lists.items()
        )
        click.echo(
            f"{parsed_app.metadata.namespace}/{parsed_app.metadata.name}: {size_text}: nothing wrong{remark}"
        )
