"""`streamapp log delete`: take a stream of an embedded log away, or its older records."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamapp_runtime.cli.log_access import cli_errors, partition_count
from streamapp_runtime.cli.log_commands.log_target import LogTarget, target_options
from streamapp_runtime.cli.log_commands.time_argument import time_in_ms

if TYPE_CHECKING:
    from streamapp_runtime.cli.log_commands.log_target import TargetStreams
    from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem


@click.command(short_help="Delete a stream, or its older records.")
@target_options
@click.argument("stream")
@click.option("--before", metavar="TIME", help="Only the records that are older, such as -7d.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(target: LogTarget, stream: str, before: str | None, yes: bool) -> None:
    """Delete STREAM of LOG with all that it holds; with --before only the records before a time.

    With --before the stream stays, and offsets continue from where they were. In each partition the records
    before the first one that is not older than TIME are deleted.

    It cannot be undone. On a terminal it asks first. It is refused while an app runs on the log, and for a
    cluster of Kafka, which has its own tools for that.

    \b
    Examples:
      streamapp log delete ./data views
      streamapp log delete ./data views --before -7d --yes
    """
    before_ms = None if before is None else time_in_ms(before, time.time(), "--before")
    with cli_errors(), target.streams(target.system_of(stream)) as target_streams:
        system = _embedded_system(target_streams)
        name = target_streams.name_in_system(stream)
        partition_count(system, name)
        _refuse_while_apps_run(system.folder)
        records = system.holdings([name])[name].records
        what = (
            f"{stream} with {records} records" if before is None else f"records of {stream} before {before}"
        )
        if not yes and sys.stdin.isatty():
            click.confirm(f"delete {what}?", abort=True, err=True)
        if before_ms is None:
            system.delete(name)
            deleted = records
        else:
            deleted = _delete_before(system, name, before_ms)
    click.echo(f"{deleted} records deleted from {stream}", err=True)


def _embedded_system(target_streams: "TargetStreams") -> "EmbeddedSystem":
    from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

    if not isinstance(target_streams.system, EmbeddedSystem):
        raise click.UsageError(
            "topics are deleted with the cluster's own tools: kafka-topics --delete --topic"
        )
    return target_streams.system


def _refuse_while_apps_run(folder: Path) -> None:
    from streamapp_runtime.driver.modes.run_lock import running_apps

    if apps := running_apps(folder):
        raise click.ClickException(f"{', '.join(apps)} runs on {folder}; stop it before anything is deleted")


def _delete_before(system: "EmbeddedSystem", stream: str, time_ms: int) -> int:
    """Let the records go that stand before a time; gives how many offsets that were."""
    from streamapp_runtime.systems.topic_partition import TopicPartition

    spans = system.spans(TopicPartition(stream, index) for index in range(system.streams()[stream]))
    positions = system.offsets_at(spans, time_ms)
    system.delete_before(positions)
    return sum(position - spans[partition].oldest for partition, position in positions.items())
