"""The options for partition counts: a catalog file, counts of single streams, the live systems."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamapp.cli.option_groups import Decorator, option_group
from streamapp.cli.secrets_option import secrets_option
from streamapp.spec.problem import nearest

if TYPE_CHECKING:  # a verb prints its help without the model
    from streamapp.cli.facts.live_lookup import LiveFacts
    from streamapp.spec.resource.app import StreamApp

LONGEST_COUNT = 18
"""Digits of a count; the planner refuses most of these counts, and says what one app may have."""


@dataclass(frozen=True, slots=True)
class CountOptions:
    """The values of the options; a single stream overrides the catalog, the catalog overrides the systems."""

    catalog: Path | None = None
    settings: tuple[str, ...] = ()
    live: bool = False
    data: Path | None = None
    secrets: Path | None = None

    def __post_init__(self) -> None:
        if not self.live and (self.data or self.secrets):
            raise click.UsageError("--data and --secrets say how systems are reached: they go with --live")


def catalog_options(catalog: str, settings: str) -> tuple[Decorator, Decorator]:
    """`--catalog` and `--set`, with these texts as their help."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    return (
        click.option("--catalog", type=file, help=catalog),
        click.option("--set", "settings", multiple=True, metavar="STREAM=COUNT", help=settings),
    )


def count_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--catalog`, `--set` and `--live` to a verb, which receives them as `count_options`."""
    group = option_group(
        "count_options",
        CountOptions,
        *catalog_options(
            "YAML or JSON, stream -> partitions.",
            "The partition count of one stream; goes before the catalog. May be given again.",
        ),
        click.option(
            "--live", is_flag=True, help="Ask the app's systems: their partition counts, its layout."
        ),
        click.option(
            "--data",
            type=click.Path(file_okay=False, path_type=Path),
            help="With --live: in place of the path of an embedded system.",
        ),
        secrets_option("With --live: "),
    )
    return group(command)


def look_up_systems(app: "StreamApp", options: CountOptions) -> "LiveFacts":
    """The facts that the app's systems report, where `--live` asks for them."""
    from streamapp.cli.facts.live_lookup import LiveFacts, SystemAccess, look_up

    return look_up(app, SystemAccess(options.data, options.secrets)) if options.live else LiveFacts()


@dataclass(frozen=True, slots=True)
class KnownPartitions:
    """The partition counts of an app's streams, and which of them come from an option."""

    counts: Mapping[str, int | None]
    counted_by: Mapping[str, str]


def known_partitions(app: "StreamApp", options: CountOptions, live_facts: "LiveFacts") -> KnownPartitions:
    """The known counts of the app's streams and of its existing intermediate streams."""
    from streamapp.cli.documents.catalog_file import CatalogError, read_catalog

    catalog_counts: dict[str, int | None] = {}
    if options.catalog:
        try:
            catalog_counts = read_catalog(options.catalog)
        except CatalogError as error:
            problems = "\n".join(f"{options.catalog}: {problem}" for problem in error.problems)
            raise click.UsageError(problems) from None
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"cannot read {options.catalog}: {error}") from None
    streams = [stream.name for stream in app.spec.streams]
    counted_by = dict.fromkeys(catalog_counts, options.catalog.name if options.catalog else "")
    for setting in options.settings:
        name, equals, count = setting.partition("=")
        is_number = count.isascii() and count.isdecimal() and len(count) <= LONGEST_COUNT
        if not (equals and is_number and int(count) > 0):
            raise click.BadParameter(f'found "{setting}"; write it like views=8', param_hint="--set")
        if name not in streams:
            raise click.BadParameter(f'no stream named "{name}"{nearest(name, streams)}', param_hint="--set")
        catalog_counts[name] = int(count)
        counted_by[name] = "--set"
    option_counts = {name: catalog_counts[name] for name in streams if catalog_counts.get(name) is not None}
    counts = {**dict.fromkeys(streams), **live_facts.counts, **option_counts}
    return KnownPartitions(counts, {name: counted_by[name] for name in option_counts})
