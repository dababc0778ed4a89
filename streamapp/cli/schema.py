"""`streamapp schema`: the JSON Schema of the resource, for editors."""

import click


@click.command(short_help="Print the JSON Schema of the resource, for editors.")
def schema() -> None:
    """Print the JSON Schema of the resource: its fields with meanings, defaults, choices and examples.

    Editors complete and check a resource by it, where the first line of the resource names its file:

    \b
      # yaml-language-server: $schema=streamapp.schema.json

    What only the whole resource shows, such as a name that is not there, is found by streamapp check.

    \b
    Example:
      streamapp schema > streamapp.schema.json
    """
    from streamapp.spec.schema.editor_schema import editor_schema_text

    click.echo(editor_schema_text(), nl=False)
