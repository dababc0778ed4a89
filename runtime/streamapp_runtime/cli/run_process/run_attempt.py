"""Runs an app to its end, whichever that is, and says what the end was."""

import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec

from streamapp.internal_fault import internal_fault
from streamapp.protocol.termination import ExitCode
from streamapp_runtime.cli.run_process.run_end import RunEnd

if TYPE_CHECKING:
    from streamapp_runtime.driver.modes.stop_signal import SignalStop
    from streamapp_runtime.driver.page.page_recorder import PageRecorder
    from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
    from streamapp_runtime.driver.reporting.listeners import Listeners
    from streamapp_runtime.driver.reporting.metric_values import RunMetrics
    from streamapp_runtime.driver.reporting.progress_log import ProgressLog
    from streamapp_runtime.driver.standby.hand_over import HandOver
    from streamapp_runtime.driver.telemetry.run_telemetry import RunTelemetry

P = ParamSpec("P")


def run_to_end(
    start: "Callable[[SignalStop, Listeners], None]",
    progress: "ProgressLog",
    metrics: "RunMetrics",
    liveness: "DriverLiveness",
    *,
    page: "PageRecorder | None" = None,
    telemetry: "RunTelemetry | None" = None,
    hand_over: "HandOver | None" = None,
    ends_start: bool = False,
) -> RunEnd:
    """Start the run with its listeners and wait for its end; no exception leaves this function.

    `page` and `telemetry` are told of everything where there are any. With `hand_over` a signal ends the run
    when nothing is left to wait for. With `ends_start` a signal before
    anything runs ends the process.
    """
    from streamapp_runtime.driver.modes.stop_signal import SignalStop
    from streamapp_runtime.driver.reporting.listeners import Listeners

    stop = SignalStop(hand_over=hand_over, ends_start=ends_start)
    stop.on_signals()
    listeners = Listeners(
        launched=_all(
            stop.launched,
            progress.launched,
            metrics.launched,
            page.launched if page else None,
            telemetry.launched if telemetry else None,
        ),
        batch=_all(
            progress.batch,
            metrics.batch,
            page.batch if page else None,
            telemetry.batch if telemetry else None,
        ),
        trouble=_all(
            progress.trouble,
            metrics.trouble,
            page.trouble if page else None,
            telemetry.trouble if telemetry else None,
        ),
        outage=_all(
            progress.outage,
            metrics.outage,
            page.outage if page else None,
            telemetry.outage if telemetry else None,
        ),
        idle=_all(progress.idle, page.idle if page else None),
        unended=_all(progress.unended, page.unended if page else None),
        held_up=_all(progress.held_up, page.held_up if page else None),
        unread=_all(progress.unread, page.unread if page else None),
        left_open=progress.left_open,
        slow=_all(progress.slow, page.slow if page else None),
        searching=progress.searching,
        doing=_all(liveness.doing, page.doing if page else None),
        changed=_all(
            progress.changed,
            metrics.changed,
            page.changed if page else None,
            telemetry.changed if telemetry else None,
        ),
    )
    run_end = _attempt(lambda: start(stop, listeners), stop, liveness)
    if telemetry is not None:
        telemetry.ended(run_end.ending, stopped=stop.is_set())
    return run_end


def _attempt(start: Callable[[], None], stop: "SignalStop", liveness: "DriverLiveness") -> RunEnd:
    from streamapp_runtime.checkpoint import StateUnreadableError
    from streamapp_runtime.driver.app_refusal import AppRefusedError
    from streamapp_runtime.driver.failures import FailedError
    from streamapp_runtime.driver.spark.jvm import JavaMissingError, SparkStartError
    from streamapp_runtime.driver.spark.spark_output import SPARK_OUTPUT

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
        return RunEnd(ExitCode.RETRY, f"StreamApp itself {internal_fault(error)}; report this")
    return _without_failure(stopped=stop.is_set(), was_late=liveness.was_late)


def _without_failure(*, stopped: bool, was_late: bool) -> RunEnd:
    """The end of a run that did not fail. A kubelet that ends a driver for its lateness does not say so."""
    if stopped and was_late:
        return RunEnd(ExitCode.RETRY, "it had made no progress for a while, and was asked to end")
    return RunEnd(ExitCode.DONE)


def _all(*listeners: Callable[P, None] | None) -> Callable[P, None]:
    """One listener that calls all of these."""
    called = [listener for listener in listeners if listener is not None]

    def call_all(*args: P.args, **kwargs: P.kwargs) -> None:
        for listener in called:
            listener(*args, **kwargs)

    return called[0] if len(called) == 1 else call_all
