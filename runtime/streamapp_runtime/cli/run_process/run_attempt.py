"""Runs an app to its end, whichever that is, and says what the end was."""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from streamapp.internal_fault import unexpected_failure
from streamapp.protocol.termination import ExitCode
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.cli.run_process.driver_routes import driver_routes
from streamapp_runtime.cli.run_process.run_end import RunEnd
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.driver.modes.app_run import RunMode, run_app
from streamapp_runtime.driver.modes.stop_signal import SignalStop
from streamapp_runtime.driver.page.page_recorder import PageRecorder
from streamapp_runtime.driver.page.recent_lines import RecentLines
from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
from streamapp_runtime.driver.reporting.metric_values import RunMetrics
from streamapp_runtime.driver.reporting.metrics_server import Answer, metrics_server, serve_metrics
from streamapp_runtime.driver.reporting.progress_log import ProgressLog
from streamapp_runtime.driver.reporting.run_messages import telemetry_message
from streamapp_runtime.driver.reporting.run_observer import RunObserver, RunObservers
from streamapp_runtime.driver.spark.jvm import JavaMissingError, SparkStartError
from streamapp_runtime.driver.spark.spark_output import SPARK_OUTPUT
from streamapp_runtime.driver.standby.hand_over import HandOver
from streamapp_runtime.driver.state_queries.state_queries import StateQueries
from streamapp_runtime.driver.telemetry.run_telemetry import RunTelemetry, open_telemetry


@dataclass(frozen=True, slots=True)
class RunParts:
    """The observers of a run, and what is served of it: alike by hand and under an operator."""

    progress: ProgressLog
    liveness: DriverLiveness
    recorder: PageRecorder | None = None
    lines: RecentLines = field(default_factory=RecentLines)  # for the page
    queries: StateQueries | None = None
    metrics: RunMetrics = field(default_factory=RunMetrics)

    @classmethod
    def of(
        cls,
        progress: ProgressLog,
        liveness: DriverLiveness,
        *,
        page: bool,
        show_values: bool,
        state_queries: bool,
    ) -> "RunParts":
        """The parts, with a page and queries of the state where these are wanted."""
        recorder = PageRecorder(time.monotonic, time.time, show_values) if page else None
        lines = RecentLines()
        if recorder is not None:
            progress.say = lines.kept(progress.say)
        return cls(progress, liveness, recorder, lines, StateQueries() if state_queries else None)

    @property
    def has_routes(self) -> bool:
        """True if there is more to serve than metrics."""
        return self.recorder is not None or self.queries is not None

    @contextmanager
    def served(
        self, port: int, announced: Callable[[str], None] | None = None, liveness: Answer | None = None
    ) -> Iterator[None]:
        """Serve metrics on loopback, with page and state; an OSError where the port is taken."""
        with driver_routes(self.recorder, self.lines, self.queries, self.progress.say) as routes:
            server = metrics_server(self.metrics.registry, port, liveness=liveness, routes=routes.by_path)
            with serve_metrics(server) as url:
                if announced is not None:
                    announced(url)
                routes.announce(url)
                yield

    def run(self, mode: RunMode, *, hand_over: HandOver | None = None, ends_start: bool = False) -> RunEnd:
        """Run an app to its end."""
        return run_to_end(
            lambda stop, observer: run_app(mode, stop, observer, self.queries),
            self.liveness,
            [self.progress, self.metrics, *([self.recorder] if self.recorder else [])],
            telemetry=open_telemetry(mode.app, lambda text: self.progress.say(telemetry_message(text))),
            hand_over=hand_over,
            ends_start=ends_start,
        )


def run_to_end(
    start: Callable[[SignalStop, RunObserver], None],
    liveness: DriverLiveness,
    observers: Sequence[RunObserver],
    *,
    telemetry: RunTelemetry | None = None,
    hand_over: HandOver | None = None,
    ends_start: bool = False,
) -> RunEnd:
    """Start the run with its observers and wait for its end; no exception leaves this function.

    `telemetry` is an observer that is told of the end too. With `hand_over` a signal ends the run when
    nothing is left to wait for. With `ends_start` a signal before anything runs ends the process.
    """
    stop = SignalStop(hand_over=hand_over, ends_start=ends_start)
    stop.on_signals()
    every_observer = RunObservers([stop, liveness, *observers, *([telemetry] if telemetry else [])])
    run_end = _attempt(lambda: start(stop, every_observer), stop, liveness)
    if telemetry is not None:
        telemetry.ended(run_end.ending, stopped=stop.is_set())
    return run_end


def _attempt(start: Callable[[], None], stop: SignalStop, liveness: DriverLiveness) -> RunEnd:
    try:
        start()
    except AppRefusedError as refusal:
        return RunEnd(ExitCode.CONFIG, problems=tuple(refusal.problems))
    except JavaMissingError as missing:
        return RunEnd(ExitCode.MISUSE, str(missing))
    except (FailedError, SparkStartError, StateUnreadableError) as failed:
        final = isinstance(failed, StateUnreadableError) or failed.final
        return RunEnd(ExitCode.CONFIG if final else ExitCode.RETRY, str(failed))
    except Exception as error:  # a fault of ours: whoever started this has to know of it all the same
        for line in "".join(traceback.format_exception(error)).splitlines(keepends=True):
            SPARK_OUTPUT.write(line)
        return RunEnd(ExitCode.RETRY, unexpected_failure(error))
    return _without_failure(stopped=stop.is_set(), was_late=liveness.was_late)


def _without_failure(*, stopped: bool, was_late: bool) -> RunEnd:
    """The end of a run that did not fail. A kubelet that ends a driver for its lateness does not say so."""
    if stopped and was_late:
        return RunEnd(ExitCode.RETRY, "it had made no progress for a while, and was asked to end")
    return RunEnd(ExitCode.DONE)
