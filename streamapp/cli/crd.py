"""`streamapp crd`: the CustomResourceDefinition."""

import click


@click.command(short_help="Print the CustomResourceDefinition.")
def crd() -> None:
    """Print the CustomResourceDefinition of StreamApp.

    \b
    Example:
      streamapp crd | kubectl apply --server-side -f -
    """
    from streamapp.spec.schema.crd_manifest import crd_yaml

    click.echo(crd_yaml(), nl=False)
