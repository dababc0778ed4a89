"""The options that tell partition counts: a catalog file, single streams set by hand, the live systems."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamapp.spec.problem import nearest

if TYPE_CHECKING:  # the help of a verb does not need the model
    from streamapp.cli.live_lookup import LiveFacts
    from streamapp.spec.resource.app import StreamApp


@dataclass(frozen=True, slots=True)
class CountOptions:
    """What the options say; a single stream goes before the catalog, the catalog before the systems."""

    catalog: Path | None = None
    settings: tuple[str, ...] = ()
    live: bool = False
    data: Path | None = None
    secrets: Path | None = None


def count_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `--catalog`, `--set` and `--live` with what it needs; it gets them as one `told`."""

    @wraps(command)
    def called(
        catalog: Path | None,
        settings: tuple[str, ...],
        live: bool,
        data: Path | None,
        secrets: Path | None,
        **others: Any,
    ) -> Any:
        if not live and (data or secrets):
            raise click.UsageError("--data and --secrets say how systems are reached: they go with --live")
        return command(told=CountOptions(catalog, settings, live, data, secrets), **others)

    options: Callable[..., Any] = called
    for option in (
        click.option(
            "--secrets",
            type=click.Path(exists=True, path_type=Path),
            help="With --live: the entries of configSecret, as for `streamapp run`.",
        ),
        click.option(
            "--data",
            type=click.Path(file_okay=False, path_type=Path),
            help="With --live: in place of the path of an embedded system.",
        ),
        click.option(
            "--live", is_flag=True, help="Ask the app's systems: their partition counts, its layout."
        ),
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
        options = option(options)
    return options


def look_up_systems(app: "StreamApp", told: CountOptions) -> "LiveFacts":
    """What the app's systems say, where they are to be asked."""
    from streamapp.cli.live_lookup import LiveFacts, SystemAccess, look_up

    return look_up(app, SystemAccess(told.data, told.secrets)) if told.live else LiveFacts()


def known_counts(app: "StreamApp", told: CountOptions, looked: "LiveFacts") -> dict[str, int | None]:
    """The counts known of the app's streams, and of those that it makes and that are there."""
    from streamapp.cli.documents.catalog_file import CatalogError, read_catalog

    known: dict[str, int | None] = {}
    if told.catalog:
        try:
            known = read_catalog(told.catalog)
        except CatalogError as error:
            problems = "\n".join(f"{told.catalog}: {problem}" for problem in error.problems)
            raise click.UsageError(problems) from None
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"cannot read {told.catalog}: {error}") from None
    streams = [stream.name for stream in app.spec.streams]
    for setting in told.settings:
        name, equals, count = setting.partition("=")
        if not (equals and count.isascii() and count.isdecimal() and int(count) > 0):
            raise click.BadParameter(f'found "{setting}"; write it like views=8', param_hint="--set")
        if name not in streams:
            raise click.BadParameter(f'no stream named "{name}"{nearest(name, streams)}', param_hint="--set")
        known[name] = int(count)
    said = {name: known[name] for name in streams if known.get(name) is not None}
    return {**dict.fromkeys(streams), **looked.counts, **said}
