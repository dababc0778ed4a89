"""The command's root: verbs are entry points that are loaded only when called."""

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any, TextIO

import click

from streamapp.cli.output_option import asks_json, echo_failure
from streamapp.cli.unreachable import UnreachableError
from streamapp.spec.problem import nearest

GROUP = "streamapp.commands"


class VerbGroup(click.Group):
    """The verbs of this installation."""

    @cached_property
    def _verb_entries(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in sorted(entry_points(group=GROUP))}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs' names."""
        return list(self._verb_entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One verb; a verb whose extra is not installed names the extra."""
        entry = self._verb_entries.get(cmd_name)
        if entry is None:
            return None
        try:
            command: click.Command = entry.load()
        except ModuleNotFoundError as error:
            if not (entry.dist and entry.extras) or (error.name or "").startswith("streamapp."):
                raise
            return _missing_command(cmd_name, entry, str(error.name))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Report a misspelt verb together with the most similar one."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            ctx.fail(f'no verb "{args[0]}"{nearest(args[0], self.list_commands(ctx))}')
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; an interrupt and a full disk end it in one line."""
        try:
            with _silent_on_closed_pipe():
                return super().invoke(ctx)
        except click.ClickException as error:
            if asks_json(ctx):
                echo_failure(error.format_message())
            raise
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(128 + signal.SIGINT)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            _discard(sys.stdout)
            raise UnreachableError("the disk is full: not all of the output was written") from None

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Read the arguments; the help of all verbs is printed while they are read."""
        with _silent_on_closed_pipe():
            return super().make_context(*arguments, **options)


@contextmanager
def _silent_on_closed_pipe() -> Iterator[None]:
    """End as by SIGPIPE where the reader of the output has closed the pipe."""
    try:
        yield
    except BrokenPipeError:
        _discard(sys.stdout)
        _discard(sys.stderr)
        sys.exit(128 + signal.SIGPIPE)


def _discard(output: TextIO) -> None:
    """Let go of what is left in the buffer, which would fail once more at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


def _missing_command(name: str, entry: EntryPoint, module: str) -> click.Command:
    install_command = f'pip install "streamapp[{",".join(entry.extras)}]"'

    @click.command(
        name,
        short_help=f"(not installed: {install_command})",
        context_settings={"ignore_unknown_options": True},
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def absent(arguments: tuple[str, ...]) -> None:
        raise click.UsageError(f"{name} needs the module {module}, which is not installed: {install_command}")

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
    """The entry point: usage errors exit with 2, all else exits as the verb decides."""
    return root(args, prog_name="streamapp")
