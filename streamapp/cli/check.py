"""`streamapp check`: whether the resource is right, as far as it can be told without planning."""

import click


@click.command(short_help="Read a resource and say all that is wrong in it.")
@click.argument("app")
def check(app: str) -> None:
    """Read APP and say all that is wrong in it, each with its place.

    APP is a YAML or JSON file, a Python program, or - for standard input. Exits with 0 when nothing is
    wrong, with 1 when something is.

    \b
    Example:
      streamapp check app.yaml
    """
    from streamapp.cli.app_sources import read_apps

    for found in read_apps(app):
        lists = {"stream": found.spec.streams, "table": found.spec.tables, "operator": found.spec.operators}
        told = ", ".join(
            f"{len(entries)} {what}{'s' * (len(entries) != 1)}" for what, entries in lists.items()
        )
        click.echo(f"{found.metadata.namespace}/{found.metadata.name}: {told}: nothing wrong")
