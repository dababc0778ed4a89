"""`streamapp sample`: made-up rows of a stream, to try an app with."""

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from streamapp.cli.app_sources import one_app
from streamapp.spec.problem import nearest
from streamapp.spec.value_types.format_names import LINES, READ_ONLY
from streamapp_runtime.cli.duration_option import seconds_of

if TYPE_CHECKING:
    from streamapp.spec.resource.app import StreamApp
    from streamapp.spec.resource.streams import Stream
    from streamapp_runtime.formats.record_format import RecordFormat


@click.command(short_help="Make up rows of a stream, to try an app with.")
@click.argument("app")
@click.argument("stream")
@click.option("--rows", type=click.IntRange(1, 100_000_000), default=20, show_default=True)
@click.option(
    "--keys",
    type=click.IntRange(1, 1_000_000),
    default=10,
    show_default=True,
    help="How many values a column of texts has.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed gives other rows.")
@click.option(
    "--start",
    metavar="TIME",
    default="2026-01-01T00:00Z",
    show_default=True,
    help="The event time of the first row.",
)
@click.option(
    "--every", metavar="DURATION", default="1s", show_default=True, help="From one row to the next."
)
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def sample(
    app: str, stream: str, rows: int, keys: int, seed: int, start: str, every: str, name: str | None
) -> None:
    """Print rows of STREAM of APP as JSON lines, made up from its columns. The same seed gives the same rows.

    A text is the name of its column and a number, such as user-7: columns of one name in several streams
    have values in common, so that joins find partners. The first rows have a key each, until every key has
    had one. Times go up from --start.

    Exits with 1 when there is no such stream, or nothing to make its rows from.

    The lines are what log write takes, also of a stream under a schema registry; a stream of format string is
    printed as text, one of csv as its lines (log write --format text), one of debezium as the rows of a
    snapshot.

    \b
    Examples:
      streamapp sample app.yaml views
      streamapp sample app.yaml users --rows 100 --keys 100 | streamapp log write app.yaml users
      streamapp sample app.yaml views --rows 100000 --every 10ms > views.jsonl
    """
    from streamapp_runtime.cli.record_input.sample_rows import Sampling, sample_rows, start_of

    seconds = seconds_of(every, "--every")
    try:
        first_time = start_of(start)
        first_time + rows * timedelta(seconds=seconds)  # the last one has to be a time too
    except ValueError:
        message = f'found "{start}"; write a time like 2026-11-22T09:30Z'
        raise click.BadParameter(message, param_hint="--start") from None
    except OverflowError:
        raise click.UsageError("the last rows would be later than the year 9999") from None
    selected = one_app(app, name)
    declared_stream = _declared(selected, stream)
    form = _line_format(selected, declared_stream)
    sampling = Sampling(
        rows=rows,
        keys=keys,
        key_columns={stream.key for stream in selected.spec.streams if stream.key is not None},
        seed=seed,
        start=first_time,
        every=timedelta(seconds=seconds),
    )
    for batch in sample_rows(declared_stream, form.schema, sampling):
        click.echo(b"".join(b"%b\n" % value for value in form.encode(batch).to_pylist()), nl=False)


def _declared(app: "StreamApp", name: str) -> "Stream":
    """The stream of that name, if there is something to make rows from."""
    streams = {stream.name: stream for stream in app.spec.streams}
    if name not in streams:
        raise click.ClickException(f'the app has no stream named "{name}"{nearest(name, list(streams))}')
    stream = streams[name]
    if stream.columns is None:
        raise click.ClickException(f'"{name}" declares no columns to make rows from: write columns for it')
    if stream.carries_watermarks or not (stream.takes_rows or stream.format in LINES):
        what = "carries watermarks" if stream.carries_watermarks else f"has the format {stream.format}"
        hint = "send rows to it in a test, with streamapp.testing"
        raise click.ClickException(f'"{name}" {what}: its records are no lines of text; {hint}')
    return stream


def _line_format(app: "StreamApp", stream: "Stream") -> "RecordFormat":
    """The format of lines that `log write` takes: that of the stream, or JSON where it encodes rows."""
    from streamapp.spec.value_types.column_list import parse_columns
    from streamapp_runtime.formats.debezium.debezium_format import DebeziumFormat
    from streamapp_runtime.formats.format_options import format_options, row_columns
    from streamapp_runtime.formats.json.json_spelling import PLAIN
    from streamapp_runtime.formats.stream_format import DEFAULT_OPTIONS, UnfitFormatError, open_format

    options = format_options(app).get(stream.name, DEFAULT_OPTIONS)
    try:
        if stream.needs_registry and stream.format in READ_ONLY:
            return DebeziumFormat(row_columns(stream), None, PLAIN, flattened=stream.flattened)
        if stream.takes_rows:
            return open_format("json", row_columns(stream))
        return open_format(stream.format, parse_columns(stream.columns or ""), options)
    except UnfitFormatError as error:
        raise click.ClickException(f'"{stream.name}": {error}') from None
