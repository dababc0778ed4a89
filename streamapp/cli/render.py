"""`streamapp render`: the resource that a program, or another spelling, defines."""

from typing import Literal

import click

from streamapp.cli.output_option import JSON, output_option


@click.command(short_help="Print the resource that a program defines.")
@click.argument("app")
@output_option("yaml", JSON)
def render(app: str, output: Literal["yaml", "json"]) -> None:
    """Print the resource that APP defines, in its canonical form: values that equal a default are left out.

    \b
    Example:
      streamapp render app.py | kubectl apply -f -
    """
    from streamapp.cli.app_sources import read_apps
    from streamapp.spec.serialization import as_json, as_yaml

    serialize = as_yaml if output == "yaml" else as_json
    separator = "---\n" if output == "yaml" else ""
    click.echo(separator.join(serialize(parsed_app) for parsed_app in read_apps(app)), nl=False)
