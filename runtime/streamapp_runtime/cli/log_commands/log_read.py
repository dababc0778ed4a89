"""`streamapp log read`: the records of a stream on standard output."""

import json
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from streamapp.cli.output_option import JSON, output_option
from streamapp_runtime.cli.log_access import cli_errors, partition_count
from streamapp_runtime.cli.log_commands.log_target import LogTarget, target_options
from streamapp_runtime.cli.log_commands.time_argument import time_in_ms

if TYPE_CHECKING:
    import pyarrow as pa

    from streamapp_runtime.systems.stream_system import StreamSystem
    from streamapp_runtime.systems.topic_partition import TopicPartition

_LOOK_AGAIN_S = 0.1


@click.command(short_help="Print the records of a stream.")
@target_options
@click.argument("stream")
@click.option("--partition", type=click.IntRange(0), help="Only this one.")
@click.option(
    "--from",
    "start",
    default="earliest",
    show_default=True,
    metavar="OFFSET|TIME|earliest|latest",
    help="Where to begin: at an offset of one partition, or at the first record that is not older.",
)
@click.option("--follow", is_flag=True, help="Continue with new records until interrupted.")
@click.option("--limit", type=click.IntRange(0), help="How many records at most.")
@click.option("--timestamps", is_flag=True, help="Print the time and a tab before each value.")
@click.option("--keys", is_flag=True, help="Print the key and a tab before each value.")
@click.option("--headers", is_flag=True, help="Print the headers, as JSON, and a tab before each value.")
@click.option("--rows", is_flag=True, help="Print the rows that values hold, as JSON; LOG is an app.")
@output_option("values", JSON)
def read(
    target: LogTarget,
    stream: str,
    partition: int | None,
    start: str,
    follow: bool,
    limit: int | None,
    timestamps: bool,
    keys: bool,
    headers: bool,
    rows: bool,
    output: str,
) -> None:
    """Print the records of STREAM in LOG, one partition after the other; with --follow as they come.

    Only committed records are read. A null, as key or value, is printed as `null`. With `-o json` each record
    is an object of partition, offset, timestamp, key and value, both as text; and headers, with --headers.

    Without it time, key and headers stand before the value in this order, with a tab behind each.

    With --rows values are decoded by the format of the stream, also by schemas of a registry, and printed as
    objects of its columns; with -o json a record of a registry has its schemaId. Keys of a registry are
    objects of their columns, and have a keySchemaId. What cannot be decoded is printed as it is, and the
    reason on standard error.

    A TIME is a date, such as 2026-11-22T09:30 or 2026-11-22T09:30:00Z, that of this machine where it names no
    zone; or how long ago it was, such as -10m.

    \b
    Examples:
      streamapp log read ./data enriched --limit 10
      streamapp log read ./data enriched --from -10m
      streamapp log read app.yaml enriched --secrets ./kafka-client --keys --rows
      streamapp log read kafka://localhost:9092 enriched --from latest --follow -o json
    """
    if output == "json" and (keys or timestamps):
        flag, what = ("--keys", "the key") if keys else ("--timestamps", "the time")
        raise click.UsageError(f"-o json always prints {what}; leave {flag} out")
    print_records = (
        partial(_print_json, headers=headers)
        if output == "json"
        else partial(_print_values, timestamps=timestamps, keys=keys, headers=headers)
    )
    with cli_errors(), target.streams(target.system_of(stream)) as target_streams:
        decoder = target.row_decoder(stream) if rows else None
        positions = _positions(target_streams.system, target_streams.name_in_system(stream), partition, start)
        out, with_headers = sys.stdout.buffer, headers or (decoder is not None and decoder.reads_headers)
        for read_partition, batch in _batches(target_streams.system, positions, follow, limit, with_headers):
            records = decoder.decoded(str(read_partition), batch) if decoder else batch
            print_records(out, read_partition, records)
            out.flush()


def _positions(
    system: "StreamSystem", stream: str, partition: int | None, start: str
) -> "dict[TopicPartition, int]":
    from streamapp_runtime.systems.topic_partition import TopicPartition

    count = partition_count(system, stream)
    if partition is not None and partition >= count:
        raise click.BadParameter(f'"{stream}" has the partitions 0 to {count - 1}', param_hint="--partition")
    indexes = range(count) if partition is None else [partition]
    spans = system.spans([TopicPartition(stream, index) for index in indexes])
    if start in ("earliest", "latest"):
        return {
            read_partition: span.oldest if start == "earliest" else span.end
            for read_partition, span in spans.items()
        }
    if not (start.isascii() and start.isdecimal()):
        return dict(
            system.offsets_at(
                spans, time_in_ms(start, time.time(), "--from", "an offset, earliest, latest, ")
            )
        )
    if len(spans) > 1:
        raise click.UsageError(
            f'an offset belongs to one partition, and "{stream}" has {count}: add --partition'
        )
    ((read_partition, span),) = spans.items()
    if not span.oldest <= int(start) <= span.end:
        raise click.ClickException(
            f"{read_partition} starts at {span.oldest} and ends at {span.end}; asked for was {start}"
        )
    return {read_partition: int(start)}


def _batches(
    system: "StreamSystem",
    positions: "dict[TopicPartition, int]",
    follow: bool,
    limit: int | None,
    headers: bool,
) -> "Iterator[tuple[TopicPartition, pa.RecordBatch]]":
    remaining = limit
    while remaining != 0:
        has_records = False
        for partition, span in system.spans(positions).items():
            for batch in system.read(partition, positions[partition], span.end, headers=headers):
                has_records = True
                shown = batch if remaining is None else batch.slice(0, remaining)
                remaining = None if remaining is None else remaining - shown.num_rows
                yield partition, shown
                if remaining == 0:
                    return
            positions[partition] = max(span.end, positions[partition])
        if not follow:
            return
        if not has_records:
            time.sleep(_LOOK_AGAIN_S)


def _print_values(
    out: BinaryIO,
    _: "TopicPartition",
    batch: "pa.RecordBatch",
    *,
    timestamps: bool,
    keys: bool,
    headers: bool,
) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [batch.column("timestamp").cast(pa.string()).cast(pa.binary())] if timestamps else []
    columns += [batch.column("key")] if keys else []
    if headers:
        texts = (json.dumps(_headers(row), ensure_ascii=False) for row in batch.column("headers").to_pylist())
        columns.append(pa.array(map(str.encode, texts), pa.binary()))
    parts = [pc.fill_null(column, b"null") for column in (*columns, batch.column("value"))]
    between = pa.scalar(b"\t", pa.binary())
    lines = pc.binary_join_element_wise(*parts, between) if columns else parts[0]
    joined = pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), b"\n")
    out.write(joined[0].as_py())
    out.write(b"\n")


def _print_json(
    out: BinaryIO, partition: "TopicPartition", batch: "pa.RecordBatch", *, headers: bool
) -> None:
    for row in batch.to_pylist():
        record: dict[str, Any] = {
            "partition": partition.index,
            "offset": row["offset"],
            "timestamp": row["timestamp"],
            "key": _text(row["key"]),
        }
        if headers:
            record["headers"] = _headers(row["headers"])
        from streamapp_runtime.formats.decoded_rows import KEY_SCHEMA_ID, SCHEMA_ID

        record |= {name: row[name] for name in (KEY_SCHEMA_ID, SCHEMA_ID) if name in row}
        record["value"] = _text(row["value"])
        out.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def _headers(headers: list[dict[str, Any]]) -> list[dict[str, str | None]]:
    return [{"name": header["name"], "value": _text(header["value"])} for header in headers]


def _text(content: bytes | None) -> str | None:
    """Text as it is; bytes that are no UTF-8 are marked, not lost in silence."""
    return None if content is None else content.decode(errors="backslashreplace")
