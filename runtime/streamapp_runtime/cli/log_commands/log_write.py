"""`streamapp log write`: lines of a file or a pipe as records of a stream."""

from collections.abc import Iterator
from io import BufferedIOBase
from itertools import chain, islice
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from streamapp.spec.value_types.partitioner_names import (
    DEFAULT_PARTITIONER,
    PARTITIONERS,
    PartitionerName,
)
from streamapp_runtime.cli.log_access import cli_errors
from streamapp_runtime.cli.log_commands.log_target import LogTarget, target_options

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from streamapp_runtime.cli.log_commands.log_target import TargetStreams
    from streamapp_runtime.cli.record_input.line_keys import LineKeys
    from streamapp_runtime.cli.record_input.row_lines import RowLines
    from streamapp_runtime.systems.stream_system import StreamSystem


@click.command(short_help="Write the lines of a file into a stream.")
@target_options
@click.argument("stream")
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--key",
    metavar="COLUMN",
    help="The column whose text is the record's key; of an app's stream its own key if this is left out.",
)
@click.option(
    "--format", "form", type=click.Choice(["json", "csv", "text"]), default="json", show_default=True
)
@click.option(
    "--partitions",
    type=click.IntRange(1),
    help="How many the stream gets if it is not there; 1 on an embedded log if this is left out.",
)
@click.option(
    "--partitioner",
    type=click.Choice(PARTITIONERS),
    help="The hash that puts keys into partitions: murmur2 as Java's clients, crc32 as librdkafka. "
    f"[default: the app's, else {DEFAULT_PARTITIONER}]",
)
def write(
    target: LogTarget,
    stream: str,
    file: BufferedIOBase,
    key: str | None,
    form: str,
    partitions: int | None,
    partitioner: PartitionerName | None,
) -> None:
    """Write the lines of FILE, or of standard input, into STREAM of LOG.

    An embedded log and its stream are made if need be, a topic where --partitions says how many it gets.

    json: each line that is not blank is a value, byte for byte as it is; but the fields __key, __timestamp
    (in milliseconds) and __headers (texts by name) of an object are those of its record, and taken out of it.
    One with "__tombstone": true has no value, and deletes that of its key.
    Changes of Debezium have the key of the row that they write or delete.
    Of a stream of format avro or columns, and of one under a schema registry, a line is an object of its
    columns, those of keys too, as log read --rows prints them; one of changes has before, after and op, with
    rows as such objects. It is written in that format, under a registry by the schema that the app would
    write by: the newest of the subject, or what writerSchema says.
    csv: the first line names the columns, each row becomes a JSON object. text: each line is a value; in a
    stream of format csv its key is that of the row. A record goes to the partition that Kafka's own
    producers choose for its key; without a key records go round. A record's time is that of writing it,
    unless the line says another.

    \b
    Examples:
      streamapp log write ./data views --key user --partitions 4 views.jsonl
      streamapp log write app.yaml views views.jsonl
      tail -f access.log | streamapp log write kafka://localhost:9092 lines --format text
    """
    if form == "text" and key is not None:
        raise click.UsageError("lines of text have no columns: --key goes with json and csv")
    from streamapp_runtime.key_partitioning import partition_of

    with cli_errors():
        names = target.names()
        name = names.in_system(stream)
        row_lines = _row_lines(target, stream, form, key)
        line_keys = target.line_keys(stream) if form != "csv" and key is None and not row_lines else None
        if form != "text" and line_keys is None and not (row_lines and row_lines.has_changes):
            key = key or names.keys.get(stream)
        blocks = _blocks(file, form, key, line_keys, row_lines)
        first_block = list(islice(blocks, 1))  # before anything is made: it may be refused
        with target.streams(target.system_of(stream), make=True) as target_streams:
            count = _partition_count(target_streams, stream, partitions)
            # A name of its own, so that on Kafka two that write at once do not fence each other.
            writer, written = f"streamapp-log-{uuid4().hex}", 0
            chosen = partitioner or names.partitioners.get(stream, DEFAULT_PARTITIONER)
            try:
                for records in chain(first_block, blocks):
                    places = partition_of(records.column("key"), count, written, partitioner=chosen)
                    _append(target_streams.system, writer, name, records, places)
                    written += len(records)
            finally:
                click.echo(f"{written} records written to {stream}", err=True)


def _partition_count(target_streams: "TargetStreams", stream: str, partitions: int | None) -> int:
    """The partitions of the stream, which is made if it is not there."""
    from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

    name = target_streams.name_in_system(stream)
    count = target_streams.system.partitions(name)
    if count is None:
        if partitions is None and not isinstance(target_streams.system, EmbeddedSystem):
            # Others use the cluster too: a name that was misspelt should not leave a topic behind.
            raise click.UsageError(f'there is no topic "{name}"; --partitions makes it')
        target_streams.system.create(name, partitions or 1)
        return partitions or 1
    if partitions not in (None, count):
        raise click.UsageError(f'"{stream}" has {count} partitions; --partitions is for a stream to be made')
    return count


def _row_lines(target: LogTarget, stream: str, form: str, key: str | None) -> "RowLines | None":
    """The lines of a stream that takes rows; a registry is asked once nothing else is wrong with them."""
    declared = target.stream_of_rows(stream)
    if declared is None:
        return None
    if form == "text":
        raise click.UsageError(f'lines of text have no columns, by which records of "{stream}" are written')
    if key is not None and declared.has_registered_keys:
        raise click.UsageError(f'"{stream}" has keys of a schema registry; leave --key out')
    return target.row_lines(declared)


def _blocks(
    source: BufferedIOBase,
    form: str,
    key: str | None,
    line_keys: "LineKeys | None",
    row_lines: "RowLines | None",
) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    from streamapp_runtime.cli.record_input.csv_rows import read_rows
    from streamapp_runtime.cli.record_input.json_lines import require_column, with_keys
    from streamapp_runtime.cli.record_input.line_fields import records_of_lines
    from streamapp_runtime.rows.lines import read_lines
    from streamapp_runtime.systems.stream_system import RECORDS

    def records(keys: pa.BinaryArray, values: pa.BinaryArray) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([keys, values, pa.nulls(len(values), pa.int64())], schema=RECORDS)

    if form == "csv":
        first = 2  # the first line names the columns
        for keys, values in read_rows(source, key):
            batch = records(keys, values)
            numbers = pa.array(range(first, first + len(batch)), pa.int64())
            yield row_lines.encoded(batch, keys, numbers) if row_lines else batch
            first += len(batch)
    else:
        keyed = key is None
        for lines in read_lines(source):
            if form == "json":
                keys, values = with_keys(lines, key)
                if key is not None and not keyed and len(values):
                    require_column(keys, values, key)
                    keyed = True
                if line_keys is not None:
                    keys = line_keys.of(values)
                numbers = lines.filled()[1]
                batch = records_of_lines(keys, values, numbers)
                yield row_lines.encoded(batch, keys, numbers) if row_lines else batch
            else:
                unkeyed = pa.nulls(len(lines.values), pa.binary())
                yield records(line_keys.of(lines.values) if line_keys else unkeyed, lines.values)


def _append(
    system: "StreamSystem",
    writer: str,
    stream: str,
    records: "pa.RecordBatch",
    places: "np.ndarray",
) -> None:
    from streamapp_runtime.key_partitioning import by_partition
    from streamapp_runtime.systems.embedded.embedded_system import now
    from streamapp_runtime.systems.stream_system import RECORDS
    from streamapp_runtime.systems.topic_partition import TopicPartition

    records = records.set_column(2, RECORDS.field(2), records.column("timestamp").fill_null(now()))
    transaction = system.begin(writer, 0)
    for index, part in by_partition(records, places):
        transaction.append(TopicPartition(stream, index), part)
    transaction.commit()
