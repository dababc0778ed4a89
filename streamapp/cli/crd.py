"""`streamapp crd`: the CustomResourceDefinition."""

import click


@click.command(short_help="Print the CustomResourceDefinition.")
def crd() -> None:
    """Print the CustomResourceDefinition of StreamApp.

    \b
    Example:
      streamapp crd | kubectl apply --server-side -f -
    """
    from streamapp.spec.crd import text

    click.echo(text(), nl=False)
