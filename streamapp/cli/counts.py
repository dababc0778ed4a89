"""The options that tell partition counts: a catalog file, and single streams set by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamapp.spec.problem import nearest

if TYPE_CHECKING:  # the help of a verb does not need the model
    from streamapp.spec.app import StreamApp


def count_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `--catalog` and `--set`."""
    for option in (
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="STREAM=COUNT",
            help="The partition count of one stream; goes before the catalog. May be given again.",
        ),
        click.option(
            "--catalog",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="YAML or JSON, stream -> partitions.",
        ),
    ):
        command = option(command)
    return command


def counts(app: "StreamApp", catalog: Path | None, settings: tuple[str, ...]) -> dict[str, int | None]:
    """The counts known of the app's streams."""
    from streamapp.catalog.file import CatalogError, read_catalog

    known: dict[str, int | None] = {}
    if catalog:
        try:
            known = read_catalog(catalog)
        except CatalogError as error:
            raise click.UsageError("\n".join(f"{catalog}: {problem}" for problem in error.problems)) from None
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"cannot read {catalog}: {error}") from None
    streams = [stream.name for stream in app.spec.streams]
    for setting in settings:
        name, equals, count = setting.partition("=")
        if not (equals and count.isascii() and count.isdecimal() and int(count) > 0):
            raise click.BadParameter(f'found "{setting}"; write it like views=8', param_hint="--set")
        if name not in streams:
            raise click.BadParameter(f'no stream named "{name}"{nearest(name, streams)}', param_hint="--set")
        known[name] = int(count)
    return {name: known.get(name) for name in streams}
