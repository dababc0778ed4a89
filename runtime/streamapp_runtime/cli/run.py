"""`streamapp run`: run an app on Spark, on this machine."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamapp.author.start_problems import start_problems
from streamapp.cli.app_sources import parse_source, report_problems, select_app
from streamapp.cli.option_groups import option_group
from streamapp.cli.secrets_option import secrets_option
from streamapp.protocol.log_settings import LogFormat, LogSettings
from streamapp.protocol.termination import ExitCode
from streamapp.spec.log_levels import LOG_LEVELS, LogLevel
from streamapp.spec.reasons import MENDED_BY_RESET
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.cli.duration_option import as_seconds
from streamapp_runtime.cli.run_process.run_end import RunEnd

if TYPE_CHECKING:
    from streamapp_runtime.cli.run_process.run_attempt import RunParts


@dataclass(frozen=True, slots=True)
class RunExtent:
    """The part of an app's work that a run does: how much at once, and until when."""

    processors: int | None
    data: Path | None
    secrets: Path | None
    until_end: bool
    seconds: float | None
    batch_rows: int | None

    def __post_init__(self) -> None:
        if self.until_end and self.seconds is not None:
            raise click.UsageError("--until-end and --for say two different ends; leave one out")


@dataclass(frozen=True, slots=True)
class ServedParts:
    """The parts of a running app that are served on this machine."""

    metrics_port: int | None
    page: bool
    show_values: bool
    state_queries: bool

    def __post_init__(self) -> None:
        if self.show_values and not self.page:
            raise click.UsageError("--show-values says what --page shows; add --page")


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """The messages of a run that are printed, and their form."""

    quiet: bool
    log_level: LogLevel
    log_format: LogFormat


@click.command(short_help="Run an app on Spark, on this machine.")
@click.argument("app")
@option_group(
    "extent",
    RunExtent,
    click.option(
        "--processors", type=click.IntRange(1, 64), help="How many; the app's own number when left out."
    ),
    click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        help="In place of the path of an embedded system; with Kafka, the folder of the app's stores.",
    ),
    secrets_option(),
    click.option("--until-end", is_flag=True, help="End when all existing records have been read."),
    click.option(
        "--for",
        "seconds",
        metavar="DURATION",
        callback=as_seconds,
        help="End after this long, such as 30s.",
    ),
    click.option("--batch-rows", type=click.IntRange(1), help="The app's own number when left out."),
)
@option_group(
    "served",
    ServedParts,
    click.option(
        "--metrics-port",
        type=click.IntRange(0, 65_535),
        help="Serve metrics for Prometheus on this port of 127.0.0.1; 0 takes a free one and says which.",
    ),
    click.option(
        "--page",
        is_flag=True,
        help="Serve a page of the running app together with its metrics, on --metrics-port or a free port.",
    ),
    click.option(
        "--show-values",
        is_flag=True,
        help="With --page: show samples of bad records, and reasons that may repeat what records hold.",
    ),
    click.option(
        "--state-queries",
        is_flag=True,
        help="Answer queries of the state together with the metrics, on --metrics-port or a free port.",
    ),
)
@click.option(
    "--take-over",
    is_flag=True,
    help="Replace a running instance of this app, or an app on a cluster that owns its state.",
)
@click.option(
    "--fresh",
    is_flag=True,
    help="Begin as a new app: positions, tables and all other state of APP are given up.",
)
@option_group(
    "messages",
    MessageOptions,
    click.option("-q", "--quiet", is_flag=True, help="Say nothing while all goes well."),
    click.option(
        "--log-level",
        type=click.Choice(LOG_LEVELS),
        metavar="LEVEL",
        default="info",
        show_default=True,
        help="From which level on the run and the app's own Python log: debug, info, warn or error.",
    ),
    click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True),
)
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def run(
    app: str,
    extent: RunExtent,
    served: ServedParts,
    take_over: bool,
    fresh: bool,
    messages: MessageOptions,
    name: str | None,
) -> None:
    """Run APP: plan it, form its tasks, and process its streams on Spark.

    One processor runs in this process, several in separate executors. Interrupted once, it
    finishes its batch and ends with 0; twice, or before anything runs, it ends at once with 130, and
    nothing is lost. Its log
    goes to standard error; with --log-format json as one object a line, of which the last
    names the outcome.

    An app that runs already on the same data is refused with 3. With --take-over this run takes its place,
    and the other one ends.

    With --fresh the app begins as if it had never run, which is what a raised `resetNonce` does, for this one
    start. Its streams stay, with all that was written to them. Edits that the state would refuse are taken.

    Exits with 0 when it is done, with 1 when the app is refused, with 2 when the command was used wrongly or
    there is no Java, with 3 when it failed and may be tried again.

    \b
    Examples:
      streamapp run app.yaml --data ./data --until-end
      streamapp run app.yaml --for 10m --metrics-port 9400
      streamapp run app.yaml --page --state-queries
      streamapp run app.yaml --fresh --until-end
      streamapp run app.yaml --data ./state --secrets ./kafka-client
    """
    source = parse_source(app)
    if source.problems:
        _report_and_exit(app, RunEnd(ExitCode.CONFIG, problems=source.problems), messages.log_format)
    selected = select_app(source.apps, app, name)
    if take_over:
        spec = selected.spec.model_copy(update={"take_over": True})
        selected = selected.model_copy(update={"spec": spec})
    code = None if app == "-" else Path(app).resolve().parent
    with _interrupts_reported():
        run_end = _run_to_end(selected, extent, served, messages, code, fresh=fresh)
        _report_and_exit(app, run_end, messages.log_format)


def _run_to_end(
    app: StreamApp,
    extent: RunExtent,
    served: ServedParts,
    messages: MessageOptions,
    code: Path | None,
    *,
    fresh: bool,
) -> RunEnd:
    """Run an app to its end, whichever that is."""
    from streamapp_runtime.driver.spark.jvm_process import JvmRequest, start_early
    from streamapp_runtime.driver.spark.session_settings import local_shape

    processors = extent.processors or app.spec.processors
    if not start_problems(app):
        # A second of Java, beside a second of imports.
        start_early(JvmRequest.of_session(local_shape(processors)))

    from streamapp_runtime.cli.run_process.message_output import message_output
    from streamapp_runtime.cli.run_process.run_attempt import RunParts
    from streamapp_runtime.driver.modes.standalone import RunOptions, Standalone
    from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
    from streamapp_runtime.driver.reporting.progress_log import ProgressLog
    from streamapp_runtime.driver.spark.spark_output import SPARK_OUTPUT

    options = RunOptions(
        processors=processors,
        data=extent.data,
        secrets=extent.secrets,
        until_end=extent.until_end,
        seconds=extent.seconds,
        rows=extent.batch_rows or app.spec.batch.rows,
        show_values=served.show_values,
        fresh=fresh,
        code=code,
        logging=LogSettings(messages.log_format, messages.log_level),
    )
    write, periods = message_output(messages.quiet, messages.log_format, messages.log_level)
    parts = RunParts.of(
        ProgressLog(write, time.monotonic, *periods, bounded=extent.until_end),
        DriverLiveness(time.monotonic),
        page=served.page,
        show_values=served.show_values,
        state_queries=served.state_queries,
    )
    is_served = served.metrics_port is not None or parts.has_routes
    with _served(parts, served.metrics_port or 0) if is_served else nullcontext():
        run_end = parts.run(Standalone(app, options), ends_start=True)
    if run_end.code is ExitCode.DONE:
        parts.progress.ended()
    failed = run_end.code is not ExitCode.DONE
    return replace(run_end, log=SPARK_OUTPUT.file) if failed and SPARK_OUTPUT.written else run_end


def _report_and_exit(source: str, run_end: RunEnd, log_format: str) -> None:
    """Say how it ended, and end."""
    if log_format == "json":
        for line in run_end.as_json():
            click.echo(line, err=True)
    elif run_end.problems:
        report_problems(source, run_end.problems)
        if any(problem.reason in MENDED_BY_RESET for problem in run_end.problems):
            click.echo("a run with --fresh gives the state up too, once, without an edit", err=True)
    elif run_end.message:
        click.echo(f"{source}: {run_end.message}", err=True)
    if log_format == "text" and run_end.log is not None:
        click.echo(f"Spark's own output is in {run_end.log}", err=True)
    sys.exit(run_end.code)


@contextmanager
def _interrupts_reported() -> Iterator[None]:
    """Until the run takes signals itself, an interrupt ends it where it stands."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted: nothing has run", err=True)
        sys.exit(128 + signal.SIGINT)


@contextmanager
def _served(parts: "RunParts", port: int) -> Iterator[None]:
    """Serve metrics, and the page and the state where they are wanted."""
    from streamapp_runtime.driver.reporting.run_messages import RunMessage

    def announce(url: str) -> None:
        parts.progress.say(RunMessage(f"metrics at {url}", {"event": "metrics", "url": url}))

    with ExitStack() as server:
        try:
            server.enter_context(parts.served(port, announce, parts.liveness.answer))
        except OSError as error:
            raise click.BadParameter(f"port {port}: {error.strerror}", param_hint="--metrics-port") from None
        yield
