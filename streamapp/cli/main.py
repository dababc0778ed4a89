"""The command's root: verbs are entry points that are loaded only when called.

The list of verbs, in the help and in a shell's completion, is read from their sources: loading all of them
takes six times as long.
"""

import ast
import errno
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import click
from click.shell_completion import CompletionItem

from streamapp.cli.output_option import UnreachableError, asks_json, echo_failure
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a sentence about each verb."""
        width = formatter.width - 6 - max(map(len, self._verb_entries), default=0)
        rows = [(name, verb.get_short_help_str(width)) for name, verb in self._summaries(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The verbs that begin so, and then the options."""
        verbs = [(name, verb) for name, verb in self._summaries(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=verb.get_short_help_str()) for name, verb in verbs]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def _summaries(self, ctx: click.Context) -> Iterator[tuple[str, click.Command]]:
        for name, entry in self._verb_entries.items():
            verb = _summary(name, entry) or self.get_command(ctx, name)
            if verb and not verb.hidden:
                yield name, verb

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


def _summary(name: str, entry: EntryPoint) -> click.Command | None:
    """A verb with its short help alone; None where no function with such a decorator stands in its source."""
    if not _has_extras(entry):
        return _missing_command(name, entry)
    spec = find_spec(entry.module)
    source = Path(spec.origin) if spec and spec.origin else None
    statements = ast.parse(source.read_bytes()).body if source and source.suffix == ".py" else []
    for statement in statements:
        if isinstance(statement, ast.FunctionDef) and statement.name == entry.attr:
            for keyword in _decorator_keywords(statement):
                match keyword:
                    case ast.keyword(arg="short_help", value=ast.Constant(value=str(text))):
                        return click.Command(name, short_help=text)
    return None


def _decorator_keywords(function: ast.FunctionDef) -> Iterator[ast.keyword]:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            yield from decorator.keywords


def _has_extras(entry: EntryPoint) -> bool:
    """True if each package that a verb needs beside those of every installation is there."""
    packages = _packages_by_extra(entry.dist) if entry.dist and entry.extras else {}
    return all(map(_is_there, (name for extra in entry.extras for name in packages.get(extra, ()))))


@cache
def _is_there(package: str) -> bool:
    return next(iter(distributions(name=package)), None) is not None


@cache
def _packages_by_extra(package: Distribution) -> Mapping[str, Sequence[str]]:
    packages: dict[str, list[str]] = {}
    for requirement in package.requires or ():
        if match := re.fullmatch(r"([\w.-]+).*; extra == ['\"](\w+)['\"]", requirement):
            packages.setdefault(match[2], []).append(match[1])
    return packages


def _missing_command(name: str, entry: EntryPoint, module: str = "") -> click.Command:
    package = entry.dist.name if entry.dist else "streamapp"
    install_command = f'pip install "{package}[{",".join(entry.extras)}]"'

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
@click.version_option(package_name="streamapp", prog_name="streamapp")
def root() -> None:
    """Stateful stream applications on Spark: planned, placed and run from one resource.

    \b
    Example:
      streamapp plan app.yaml --set views=8 --set users=8
    """


def main(args: list[str] | None = None) -> Any:
    """The entry point: usage errors exit with 2, all else exits as the verb decides."""
    return root(args, prog_name="streamapp")
