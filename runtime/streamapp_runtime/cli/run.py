"""`streamapp run`: run an app on Spark, on this machine."""

import signal
import sys
import time
from pathlib import Path
from threading import Event
from types import FrameType

import click


@click.command(short_help="Run an app on Spark, on this machine.")
@click.argument("app")
@click.option(
    "--processors", type=click.IntRange(1, 64), help="How many; the app's own number when left out."
)
@click.option(
    "--data", type=click.Path(file_okay=False, path_type=Path), help="In place of the system's path."
)
@click.option("--until-end", is_flag=True, help="End when everything that is there has been read.")
@click.option("--for", "duration", metavar="DURATION", help="End after this long, such as 30s.")
@click.option("--batch-rows", type=click.IntRange(1), default=1_000_000, show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing while all goes well.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def run(
    app: str,
    processors: int | None,
    data: Path | None,
    until_end: bool,
    duration: str | None,
    batch_rows: int,
    quiet: bool,
    log_format: str,
    name: str | None,
) -> None:
    """Run APP: plan it, form its tasks, and process its streams on Spark.

    One processor runs in this process, several in executors of their own. Interrupted once, it finishes its
    batch and ends with 0; twice, it ends at once, and nothing is lost. Exits with 1 when the app is refused,
    with 3 when it failed and may be tried again.

    \b
    Example:
      streamapp run app.yaml --data ./data --until-end
    """
    from streamapp.cli.sources import one_app, tell
    from streamapp_runtime.driver.application import Wish
    from streamapp_runtime.driver.application import run as run_app
    from streamapp_runtime.driver.launch import RefusedError
    from streamapp_runtime.driver.loop import FailedError
    from streamapp_runtime.driver.progress import Progress

    found = one_app(app, name)
    wish = Wish(processors or found.spec.processors, data, until_end, _seconds(duration), batch_rows)
    progress = Progress(_silent if quiet else _say, time.monotonic, as_json=log_format == "json")
    try:
        run_app(found, wish, _stopped(), launched=lambda _: None, heard=progress.batch)
    except RefusedError as refused:
        tell(app, tuple(refused.problems))
        sys.exit(1)
    except FailedError as failed:
        click.echo(f"{found.metadata.name} failed: {failed}", err=True)
        sys.exit(3)
    totals = progress.totals
    if not quiet:
        _say(
            f"{found.metadata.name}: {totals.rows_in:,} rows in, {totals.rows_out:,} out, {totals.batches} batches"
        )


def _say(line: str) -> None:
    click.echo(line, err=True)


def _silent(_: str) -> None:
    """Say nothing."""


def _seconds(duration: str | None) -> float | None:
    from streamapp.spec.durations import milliseconds

    try:
        return milliseconds(duration) / 1000 if duration else None
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--for") from None


def _stopped() -> Event:
    """Set by the first signal; the second one ends the process where it stands."""
    stop = Event()

    def heard(number: int, _: FrameType | None) -> None:
        if stop.is_set():
            sys.exit(128 + number)
        stop.set()

    for wanted in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wanted, heard)
    return stop
