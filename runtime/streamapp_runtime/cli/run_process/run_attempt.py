"""Runs an app to its end, whichever that is, and says what the end was."""

import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from streamapp.internal_fault import unexpected_failure
from streamapp.protocol.termination import ExitCode
from streamapp_runtime.cli.run_process.run_end import RunEnd

if TYPE_CHECKING:
    from streamapp_runtime.driver.modes.stop_signal import SignalStop
    from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
    from streamapp_runtime.driver.reporting.run_observer import RunObserver
    from streamapp_runtime.driver.standby.hand_over import HandOver
    from streamapp_runtime.driver.telemetry.run_telemetry import RunTelemetry


def run_to_end(
    start: "Callable[[SignalStop, RunObserver], None]",
    liveness: "DriverLiveness",
    observers: "Sequence[RunObserver]",
    *,
    telemetry: "RunTelemetry | None" = None,
    hand_over: "HandOver | None" = None,
    ends_start: bool = False,
) -> RunEnd:
    """Start the run with its observers and wait for its end; no exception leaves this function.

    `telemetry` is an observer that is told of the end too. With `hand_over` a signal ends the run when
    nothing is left to wait for. With `ends_start` a signal before anything runs ends the process.
    """
    from streamapp_runtime.driver.modes.stop_signal import SignalStop
    from streamapp_runtime.driver.reporting.run_observer import RunObservers

    stop = SignalStop(hand_over=hand_over, ends_start=ends_start)
    stop.on_signals()
    every_observer = RunObservers([stop, liveness, *observers, *([telemetry] if telemetry else [])])
    run_end = _attempt(lambda: start(stop, every_observer), stop, liveness)
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
        return RunEnd(ExitCode.RETRY, unexpected_failure(error))
    return _without_failure(stopped=stop.is_set(), was_late=liveness.was_late)


def _without_failure(*, stopped: bool, was_late: bool) -> RunEnd:
    """The end of a run that did not fail. A kubelet that ends a driver for its lateness does not say so."""
    if stopped and was_late:
        return RunEnd(ExitCode.RETRY, "it had made no progress for a while, and was asked to end")
    return RunEnd(ExitCode.DONE)
