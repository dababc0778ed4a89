"""`streamapp log`: look into an embedded log, and fill it by hand."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamapp.spec.durations import milliseconds
from streamapp_runtime.cli.columns import aligned
from streamapp_runtime.cli.log_read import read
from streamapp_runtime.cli.log_write import write
from streamapp_runtime.cli.opened_log import opened, partition_count, told

if TYPE_CHECKING:
    from streamapp_runtime.systems.embedded.log import Holding


@click.group(short_help="Read, write and list the streams of an embedded log.")
def log() -> None:
    """Read, write and list the streams of an embedded log.

    DATA is the folder that an embedded system's `path` names. Apps may run on it at the same time.

    \b
    Example:
      streamapp log write ./data views --key user --partitions 4 views.jsonl
      streamapp log read ./data enriched --follow
    """


log.add_command(read)
log.add_command(write)


@log.command("list", short_help="List the streams.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_streams(data: Path, output: str) -> None:
    """List the streams of DATA with their partitions, records and bytes."""
    with told(), opened(data) as system:
        holdings = system.holdings()
    if output == "json":
        click.echo(json.dumps({name: _facts(holding) for name, holding in holdings.items()}, indent=2))
        return
    rows = [("STREAM", "PARTITIONS", "RECORDS", "BYTES", "KEEPS")]
    rows += [
        (name, str(held.partitions), str(held.records), str(held.size), _keeps(held))
        for name, held in holdings.items()
    ]
    for line in aligned(rows, numbers=(1, 2, 3)):
        click.echo(line)


@log.command(short_help="Make a stream.")
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("stream")
@click.option("--partitions", type=click.IntRange(1), default=1, show_default=True)
@click.option("--compacted", is_flag=True, help="Keep the newest record of each key.")
@click.option(
    "--retention", metavar="DURATION", help="How long records are kept, such as 7d; for ever if unset."
)
def create(data: Path, stream: str, partitions: int, compacted: bool, retention: str | None) -> None:
    """Make STREAM in DATA. The same stream may be there already.

    \b
    Example:
      streamapp log create ./data users --partitions 4 --compacted
    """
    from streamapp_runtime.systems.system import StreamOptions

    try:
        kept = None if retention is None else milliseconds(retention)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--retention") from None
    with told(), opened(data, make=True) as system:
        system.create(stream, partitions, StreamOptions(compacted, kept))


@log.command(short_help="Add partitions to a stream.")
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("stream")
@click.argument("partitions", type=click.IntRange(1))
def grow(data: Path, stream: str, partitions: int) -> None:
    """Give STREAM in DATA so many PARTITIONS; it cannot get fewer.

    An app with state that reads it takes any multiple of the count at which its state began, while it runs.

    \b
    Example:
      streamapp log grow ./data views 8
    """
    with told(), opened(data) as system:
        partition_count(system, stream)
        system.grow(stream, partitions)


def _facts(held: "Holding") -> dict[str, object]:
    return {
        "partitions": held.partitions,
        "records": held.records,
        "bytes": held.size,
        "compacted": held.options.compacted,
        "retentionMs": held.options.retention_ms,
    }


def _keeps(held: "Holding") -> str:
    kept = "newest of each key" if held.options.compacted else "all"
    return kept if held.options.retention_ms is None else f"{kept}, {held.options.retention_ms} ms"
