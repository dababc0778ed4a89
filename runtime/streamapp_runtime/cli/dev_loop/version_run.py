"""One version of the app in its own process: it is read, planned, started, sent data, and shown."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from streamapp.author.app_streams import InputRoles
from streamapp.author.app_warnings import app_warnings
from streamapp.cli.app_sources import (
    located_plan,
    located_start_problems,
    parse_source,
    print_problems,
    select_app,
)
from streamapp.cli.documents import python_program  # noqa: F401 - so that forks have it
from streamapp.cli.facts.count_options import KnownPartitions, known_partitions
from streamapp.cli.facts.live_lookup import LiveFacts
from streamapp.cli.facts.offline_proposal import displayed_plan
from streamapp.internal_fault import unexpected_failure
from streamapp.plan.partition_plan import PlanOutcome
from streamapp.plan.render.forms import FORMS
from streamapp.plan.render.terminal import plan_text  # noqa: F401 - so that forks have it
from streamapp.spec.parser import ParseResult
from streamapp.spec.problem import nearest
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import traits_of
from streamapp_runtime.cli.dev_loop.app_feed import AppFeed, ChangedDataError
from streamapp_runtime.cli.dev_loop.data_lines import UnfitDataError, data_files
from streamapp_runtime.cli.dev_loop.debugging import DebuggerLeftError, install_debugger
from streamapp_runtime.cli.dev_loop.dev_options import DevOptions, UnfitOptionError, VersionOutcome
from streamapp_runtime.cli.dev_loop.own_modules import OwnModules
from streamapp_runtime.cli.dev_loop.row_output import RowOutput
from streamapp_runtime.cli.dev_loop.version_process import VersionChannel
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.spark.jvm import JavaMissingError, SparkStartError
from streamapp_runtime.driver.spark.sql_class_recording import evaluate_once, read_once
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.kit_errors import AppFailedError, WrongUseError
from streamapp_runtime.testing.shared_jvm import server_folder, shared_jvm

SLOW_SECONDS: Final = 1.0
"""A version that takes longer says what took the time."""


@dataclass(slots=True)
class Phases:
    """The seconds that each phase took."""

    begun: float
    seconds: dict[str, float] = field(default_factory=dict)

    def note(self, phase: str) -> None:
        """A phase has ended."""
        self.seconds[phase] = time.monotonic() - self.begun - sum(self.seconds.values())

    def text(self) -> str:
        """All of them."""
        return ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in self.seconds.items())


@dataclass(slots=True)
class VersionRun:
    """One version."""

    options: DevOptions
    folder: Path  # for its streams and stores
    saved_at: float | None  # by the wall clock; None for the first version
    channel: VersionChannel
    modules: OwnModules
    has_spark: bool  # whether Spark was started ahead
    phases: Phases = field(default_factory=lambda: Phases(time.monotonic()))

    def run(self) -> VersionOutcome:
        """Run it to its end; problems are printed."""
        with ExitStack() as stack:
            try:
                return self._run(stack)
            except ChangedDataError as changed:
                self._say(str(changed))
                return VersionOutcome.REPLAY
            except UnfitOptionError as misuse:
                self._fail(str(misuse))
                return VersionOutcome.MISUSE
            except DebuggerLeftError:
                self._say("the debugger was left, and the app has ended")
                return VersionOutcome.LEFT
            except click.UsageError as error:
                hint = error.param_hint if isinstance(error, click.BadParameter) else None
                self._fail(f"{hint}: {error.message}" if isinstance(hint, str) else error.message)
                return VersionOutcome.MISUSE
            except click.ClickException as error:
                self._fail(error.format_message())
            except (AppFailedError, UnfitDataError, WrongUseError, SparkStartError) as error:
                self._fail(str(error))
            except JavaMissingError as error:
                self._fail(f"an expression needs Spark: {error}")
            except SystemExit as end:
                self._fail(f"the app's own code ended the process: sys.exit({end.code!r})")
            except BrokenPipeError:
                raise
            except Exception as error:
                self._fail(unexpected_failure(error))
        return VersionOutcome.PROBLEM

    def _run(self, stack: ExitStack) -> VersionOutcome:
        parsed = parse_source(self.options.app)
        if parsed.problems:
            print_problems(self.options.app, parsed.problems)
            return VersionOutcome.PROBLEM
        selected = select_app(parsed.apps, self.options.app, self.options.name)
        observed = self._observed(selected)
        known = known_partitions(selected, self.options.counts, LiveFacts())
        roles = InputRoles.of(selected)
        data = data_files(self.options.data, self.options.folder, [one.name for one in selected.spec.streams])
        self.channel.report(files=self.modules.files(), data=data.candidates)
        self.phases.note("reading the app and its modules")
        if problems := located_start_problems(parsed, selected):
            print_problems(self.options.app, problems)
            return VersionOutcome.PROBLEM
        for warning in parsed.located(selected, app_warnings(selected)):
            click.secho(f"{self.options.app}: warning: {warning}", err=True, fg="yellow")
        counts = {name: count for name, count in known.counts.items() if count is not None}
        try:
            started_app = InProcessApp(
                selected,
                partitions=counts,
                observed=observed,
                folder=self.folder,
                spark_notice=self._say_spark,
            )
            app = stack.enter_context(started_app)
        except AppRefusedError as refusal:
            self._print_refusal(parsed, selected, known, refusal)
            return VersionOutcome.PROBLEM
        self.phases.note("starting")
        feed = AppFeed(app, roles, data, self.options.made_up)
        output = RowOutput(app, self.options.shown or roles.outputs, self.options.tables, self.options.limit)
        self._process(feed, output)
        self._say_times(app)
        if self.options.once:
            return VersionOutcome.DONE
        self._say("waits for saved files and new lines of data; Ctrl-C ends it")
        while self.channel.wait():
            self._process(feed, output)
        return VersionOutcome.DONE

    def _process(self, feed: AppFeed, output: RowOutput) -> None:
        with self._shown_whatever_comes(output):
            records = feed.send()
            if feed.app.app.spec.mode == "batch" and records:
                feed.app.run_turn()
            for note in feed.notes:
                self._say(note)
        self.channel.report(files=self.modules.files(), needs_spark=bool(feed.app.spark_reasons))

    @contextmanager
    def _shown_whatever_comes(self, output: RowOutput) -> Iterator[None]:
        """Show the rows after a failure too, before its message: the message is what has to be seen last."""
        try:
            yield
        except AppFailedError:
            output.print_new_rows()
            raise
        output.print_new_rows()
        self.phases.note("processing")

    def _observed(self, app: StreamApp) -> tuple[str, ...]:
        """The operators among what is to be shown; UnfitOptionError for what is no stream either."""
        streams = [stream.name for stream in app.spec.streams]
        operators = [one.name for one in app.spec.operators if traits_of(one).hands_on_rows]
        tables = [table.name for table in app.spec.tables if table.remote is None]
        for name in self.options.shown:
            if name not in (*streams, *operators):
                near = nearest(name, [*streams, *operators])
                raise UnfitOptionError(f'--show: no stream or operator "{name}"{near}')
        for name in self.options.tables:
            if name not in tables:
                raise UnfitOptionError(f'--table: no table "{name}"{nearest(name, tables)}')
        return tuple(dict.fromkeys(name for name in self.options.shown if name not in streams))

    def _print_refusal(
        self, parsed: ParseResult, app: StreamApp, known: KnownPartitions, refusal: AppRefusedError
    ) -> None:
        """As `streamapp plan` prints it: a plan that is rejected, else problems."""
        offline = displayed_plan(app, LiveFacts(), known)  # which knows what counts come from
        for proposal in (offline, refusal.proposal):
            if proposal is not None and proposal.plan.outcome is PlanOutcome.REJECTED:
                name, colour = app.metadata.name, sys.stderr.isatty()
                planned = located_plan(parsed, app, proposal.plan)
                click.echo(FORMS["text"](name, proposal.graph, planned, colour), nl=False, err=True)
                return
        print_problems(self.options.app, parsed.located(app, refusal.problems))

    def _say_spark(self, text: str) -> None:
        if not self.has_spark:
            self._say(f"starts Spark, which takes seconds, for {text}")

    def _say_times(self, app: InProcessApp) -> None:
        took = time.monotonic() - self.phases.begun
        since = (
            ""
            if self.saved_at is None
            else f", {max(time.time() - self.saved_at, took):.2f} s after the save"
        )
        slow = f": {self.phases.text()}" if took > SLOW_SECONDS else ""
        self._say(f"ran in {took:.2f} s{since}{slow}")
        if app.spark_reasons:
            self._say("Spark is needed for")
            for reason in app.spark_reasons:
                click.echo(f"  {reason}", err=True)

    def _say(self, text: str) -> None:
        click.secho(f"{self.options.app}: {text}", err=True, dim=True)

    def _fail(self, text: str) -> None:
        click.secho(f"{self.options.app}: {text}", err=True, fg="red")


def run_version(options: DevOptions, folder: Path, is_ahead: bool, channel: VersionChannel) -> VersionOutcome:
    """The work of a version's process. One that is started ahead of a save has Spark ready for it."""
    if is_ahead:
        with suppress(JavaMissingError, SparkStartError):  # the version says so when it runs
            _prepare_spark()
        channel.report()  # that it is ready
    saved_at = channel.wait_for_start()
    sys.dont_write_bytecode = True  # a file that is saved twice in a second could be taken for the same
    install_debugger()
    modules = OwnModules(options.folder)
    sys.path.insert(0, str(options.folder))
    run = VersionRun(options, folder, saved_at, channel, modules, is_ahead)
    try:
        return run.run()
    finally:
        if channel.is_abandoned:  # and nobody else takes the folders away
            shutil.rmtree(folder.parent, ignore_errors=True)
        else:
            channel.report(files=modules.files())


def _prepare_spark() -> None:
    """Start the JVM that versions find there, and have it evaluate something: the first time takes long."""
    read_once(shared_jvm())
    list(evaluate_once([0], server_folder))
