"""`streamapp log`: look into the streams of an embedded log or of a Kafka cluster, and fill them by hand."""

import json
import re
from typing import TYPE_CHECKING

import click

from streamapp.cli.output_option import JSON, aligned_columns, output_option
from streamapp.spec.problem import short
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.cli.log_access import cli_errors, partition_count
from streamapp_runtime.cli.log_commands.log_delete import delete
from streamapp_runtime.cli.log_commands.log_read import read
from streamapp_runtime.cli.log_commands.log_target import LogTarget, target_options
from streamapp_runtime.cli.log_commands.log_write import write

if TYPE_CHECKING:
    from streamapp_runtime.systems.stream_system import StreamHolding


@click.group(short_help="Read, write and list streams, embedded or of Kafka.")
def log() -> None:
    """Read, write and list streams, those of an embedded log and those of a Kafka cluster.

    LOG says where they are:

    \b
      ./data                   the folder that an embedded system's `path` names
      app.yaml                 an app: its system, its streams by the names that they have in it
      kafka://HOST:PORT        a cluster; several brokers are joined by commas

    Apps may run on them at the same time. Only committed records are read. Verbs exit with 1 when something
    is refused, with 2 when they were used wrongly, with 3 when the system does not answer.

    \b
    Examples:
      streamapp log write ./data views --key user --partitions 4 views.jsonl
      streamapp log read app.yaml enriched --follow
      streamapp log list kafka://localhost:9092
    """


log.add_command(delete)
log.add_command(read)
log.add_command(write)


@log.command("list", short_help="List the streams.")
@target_options
@output_option("text", JSON)
def list_streams(target: LogTarget, output: str) -> None:
    """List the streams of LOG with their partitions, records and bytes.

    Of an app those are listed that it names and that it makes. Of a topic RECORDS are the offsets that it
    spans, which may have holes, and brokers do not report BYTES.
    """
    holdings: dict[str, StreamHolding] = {}
    with cli_errors():
        for system in target.systems:
            with target.streams(system) as target_streams:
                held = target_streams.system.holdings(target_streams.app_stream_names())
                holdings |= {target.label(name, system): holding for name, holding in held.items()}
    if output == "json":
        click.echo(json.dumps({name: _facts(holding) for name, holding in holdings.items()}, indent=2))
        return
    rows = [("STREAM", "PARTITIONS", "RECORDS", "BYTES", "KEEPS")]
    rows += [
        (name, str(holding.partitions), str(holding.records), _size_text(holding), _retention_text(holding))
        for name, holding in holdings.items()
    ]
    for line in aligned_columns(rows, numbers=(1, 2, 3)):
        click.echo(line)


@log.command(short_help="Make a stream.")
@target_options
@click.argument("stream")
@click.option("--partitions", type=click.IntRange(1), default=1, show_default=True)
@click.option("--compacted", is_flag=True, help="Keep the newest record of each key.")
@click.option(
    "--retention",
    metavar="DURATION",
    help="How long records are kept, such as 7d; if unset as long as the cluster says, or for ever.",
)
def create(target: LogTarget, stream: str, partitions: int, compacted: bool, retention: str | None) -> None:
    """Make STREAM in LOG. The same stream may be there already.

    \b
    Example:
      streamapp log create ./data users --partitions 4 --compacted
    """
    from streamapp.spec.value_types.scalars import MEANING, TOPIC
    from streamapp_runtime.systems.stream_system import StreamOptions

    if not re.match(TOPIC, stream):
        raise click.BadParameter(f'found "{short(stream)}"; allowed is {MEANING[TOPIC]}', param_hint="STREAM")
    try:
        retention_ms = None if retention is None else milliseconds(retention)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--retention") from None
    with cli_errors():
        name = target.names().in_system(stream)  # before anything is made: it may be refused
        with target.streams(target.system_of(stream), make=True) as target_streams:
            target_streams.system.create(name, partitions, StreamOptions(compacted, retention_ms))


@log.command(short_help="Add partitions to a stream.")
@target_options
@click.argument("stream")
@click.argument("partitions", type=click.IntRange(1))
def grow(target: LogTarget, stream: str, partitions: int) -> None:
    """Give STREAM in LOG so many PARTITIONS; it cannot get fewer.

    An app with state that reads it takes any multiple of the count at which its state began, while it runs.

    \b
    Example:
      streamapp log grow ./data views 8
    """
    with cli_errors(), target.streams(target.system_of(stream)) as target_streams:
        name = target_streams.name_in_system(stream)
        partition_count(target_streams.system, name)
        target_streams.system.grow(name, partitions)


def _facts(holding: "StreamHolding") -> dict[str, object]:
    return {
        "partitions": holding.partitions,
        "records": holding.records,
        "bytes": holding.size,
        "compacted": holding.options.compacted,
        "retentionMs": holding.options.retention_ms,
    }


def _size_text(holding: "StreamHolding") -> str:
    return "-" if holding.size is None else str(holding.size)


def _retention_text(holding: "StreamHolding") -> str:
    text = "newest of each key" if holding.options.compacted else "all"
    return text if holding.options.retention_ms is None else f"{text}, {holding.options.retention_ms} ms"
