"""`streamapp dev`: run an app while it is being written."""

import sys
from pathlib import Path

import click

from streamapp.cli.facts.count_options import CountOptions, catalog_options
from streamapp.cli.option_groups import option_group
from streamapp_runtime.cli.dev_loop.dev_options import DataOption, DevOptions, SampleRows
from streamapp_runtime.cli.duration_option import as_seconds


@click.command(short_help="Run an app while you write it: again after each save.")
@click.argument("app")
@click.option(
    "--data",
    multiple=True,
    metavar="STREAM=FILE|FOLDER",
    help="Rows of a stream, or a folder of files named after streams; sample/ next to APP when left out. "
    "Can be repeated.",
)
@option_group(
    "made_up",
    SampleRows,
    click.option(
        "--rows",
        type=click.IntRange(0, 100_000),
        default=20,
        show_default=True,
        help="How many rows are made up for a stream without data.",
    ),
    click.option(
        "--every",
        "every_seconds",
        metavar="DURATION",
        default="1s",
        show_default=True,
        callback=as_seconds,
        help="From one made-up row to the next.",
    ),
)
@click.option(
    "--show",
    "shown",
    multiple=True,
    metavar="NAME",
    help="A stream or an operator whose rows are shown; the outputs when left out. May be given again.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME",
    help="A table whose rows are shown. May be given again.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="How many rows of a stream are shown at once: the newest.",
)
@option_group(
    "counts",
    CountOptions,
    *catalog_options(
        "YAML or JSON, stream -> partitions; a stream that it leaves out has one.",
        "The partition count of one stream.",
    ),
)
@click.option(
    "--watch",
    "watched",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Another file that the app reads, such as a model. May be given again.",
)
@click.option("--once", is_flag=True, help="Do not wait for changes: 0 when all went well, 1 when not.")
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def dev(
    app: str,
    data: tuple[str, ...],
    made_up: SampleRows,
    shown: tuple[str, ...],
    tables: tuple[str, ...],
    limit: int,
    counts: CountOptions,
    watched: tuple[Path, ...],
    once: bool,
    name: str | None,
) -> None:
    """Run APP in this terminal, and again after each save of its files, with the same data.

    Each time the app is read, checked and planned, started with empty state, and sent all of its data from
    the start, so the output is that of the current version. Errors are shown, and the app runs again once
    they are fixed. Lines that are added to a file of data are sent to the running app.

    Watched are APP, the Python modules that it imports, files of data, and those of --catalog and --watch.

    Data are JSON lines (.jsonl), CSV (.csv) or lines of text (.txt). Streams that fill tables come first,
    then all others together. A stream without data gets rows as `streamapp sample` makes them up.

    The app runs as in tests, in one process without a broker, whatever its systems are: nothing of a cluster
    is read or written. breakpoint() in its code opens the debugger. An expression that needs Spark is named:
    Spark takes seconds to start.

    Rows go to standard output, each after the name of its stream; all else goes to standard error.

    Ends with 0 when interrupted, with 1 when --once finds something wrong, with 2 when the command was used
    wrongly.

    \b
    Examples:
      streamapp dev app.yaml
      streamapp dev app.yaml --data views=views.jsonl --data users=users.csv
      streamapp dev app.py --show by-user --show enriched --table users
      streamapp dev app.yaml --once
    """
    if app == "-":
        raise click.UsageError("standard input cannot be watched: name the file of the app")
    if not Path(app).is_file():
        raise click.UsageError(f"cannot read {app}: there is no such file")
    data_options = tuple(_data_option(text) for text in data)

    from streamapp_runtime.cli.dev_loop.dev_supervisor import DevSupervisor

    options = DevOptions(
        app=app,
        name=name,
        data=data_options,
        shown=shown,
        tables=tables,
        counts=counts,
        made_up=made_up,
        limit=limit,
        watched=watched,
        once=once,
    )
    sys.exit(DevSupervisor(options).run())


def _data_option(text: str) -> DataOption:
    if Path(text).is_dir():
        return DataOption(Path(text).absolute())
    stream, equals, file = text.partition("=")
    if not (stream and equals and file):
        raise click.BadParameter(
            f'found "{text}"; write STREAM=FILE, or a folder of files that are named after streams',
            param_hint="--data",
        )
    if not Path(file).is_file():
        raise click.BadParameter(f"there is no file {file}", param_hint="--data")
    return DataOption(Path(file).absolute(), stream)
