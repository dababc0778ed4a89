"""The command's root: verbs are found by entry points, and loaded only when they are called."""

import sys
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any

import click

from streamapp.spec.problem import nearest

GROUP = "streamapp.commands"


class VerbGroup(click.Group):
    """The verbs that this installation has."""

    @cached_property
    def _found(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in sorted(entry_points(group=GROUP))}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs' names."""
        return list(self._found)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One verb; one whose extra is not installed says which it is."""
        entry = self._found.get(cmd_name)
        if entry is None:
            return None
        try:
            command: click.Command = entry.load()
        except ModuleNotFoundError as error:
            if not (entry.dist and entry.extras) or (error.name or "").startswith("streamapp."):
                raise
            return _absent(cmd_name, entry, str(error.name))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A misspelt verb is told beside the one that was probably meant."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            ctx.fail(f'no verb "{args[0]}"{nearest(args[0], self.list_commands(ctx))}')
        return super().resolve_command(ctx, args)


def _absent(name: str, entry: EntryPoint, module: str) -> click.Command:
    wanted = f'pip install "streamapp[{",".join(entry.extras)}]"'

    @click.command(
        name, short_help=f"(not installed: {wanted})", context_settings={"ignore_unknown_options": True}
    )
    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def absent(rest: tuple[str, ...]) -> None:
        raise click.UsageError(f"{name} needs the module {module}, which is not installed: {wanted}")

    return absent


@click.command(
    cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(version("streamapp"), prog_name="streamapp")
def root() -> None:
    """Stateful stream applications on Spark: planned, placed and run from one resource.

    \b
    Example:
      streamapp plan app.yaml --set views=8 --set users=8
    """


def main(args: list[str] | None = None) -> Any:
    """The entry point: errors of use end with 2, everything else as the verb says."""
    try:
        return root(args, prog_name="streamapp")
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        return sys.exit(0)
