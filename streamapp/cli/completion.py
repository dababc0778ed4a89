"""`streamapp completion`: a shell's completion script for verbs and options."""

import click
from click.shell_completion import get_completion_class


@click.command(short_help="Print a shell's completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    Example:
      source <(streamapp completion bash)
    """
    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(completion_class(context.find_root().command, {}, "streamapp", "_STREAMAPP_COMPLETE").source())
