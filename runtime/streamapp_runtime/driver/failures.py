"""Failures that end a run, and those that may befall a batch without ending the run."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, assert_never

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from streamapp_runtime.driver.executors.batch_exchange import LANE_LOSS
from streamapp_runtime.driver.spark.spark_session import ExecutorsMissingError
from streamapp_runtime.driver.status_rules import SHOWN_STATUSES, STATUS_RULES, Reaction, TrialVerdict
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.lanes.protocol.task_report import MalformedReportError, TaskReport
from streamapp_runtime.systems.stream_system import UnavailableError


class BatchTimeoutError(Exception):
    """A batch had not ended when its time was over, and was ended; the message says who had it."""


class UnprovedTrialError(Exception):
    """Something happened to a trial that says nothing of its records; the message says what."""


MOST_FAILURES: Final = 5
"""So many batches in a row may fail before the app gives up."""
RETRIABLE: Final = (
    *(PySparkException, Py4JError, OSError, EOFError),
    *(UnavailableError, ExecutorsMissingError, BatchTimeoutError, UnprovedTrialError),
    MalformedReportError,
)
"""What may befall a batch without anything being wrong with the app: it is tried again."""


def failed_report(reports: Iterable[TaskReport]) -> TaskReport | None:
    """The first report that says of a batch, of which nothing is committed, that it fails; None without."""
    for report in reports:
        match STATUS_RULES[report.status].verdict:
            case TrialVerdict.UNPROVED:
                raise UnprovedTrialError(report.message)
            case TrialVerdict.UNPROVED_OUTAGE:
                raise UnavailableError(report.message)
            case TrialVerdict.FAILS:
                return report
            case TrialVerdict.INNOCENT:
                pass
            case unknown:
                assert_never(unknown)
    return None


class FailedError(Exception):
    """The app cannot go on; the message says why."""

    final = False
    """Whether trying again changes nothing."""


class FinalFailureError(FailedError):
    """The app cannot go on, and will not when it is started again as it is."""

    final = True


def refuse_fatal(reports: Iterable[TaskReport]) -> None:
    """End the run where a task has reported what trying again does not fix."""
    for report in reports:
        rule = STATUS_RULES[report.status]
        if rule.reaction is Reaction.END_FOR_GOOD:
            raise FinalFailureError(f"{report.task}: {rule.sentence}: {report.message}")
        if rule.reaction is Reaction.END:
            raise FailedError(report.message)


WORKER_LOSS: Final = "Python worker exited unexpectedly"
PROCESS_LOSS_SIGNS: Final = ("ExecutorLostFailure", WORKER_LOSS, "SparkContext was shut down")
"""What messages of Spark contain when a process was lost."""
_LOST: Final = "a process was lost ({})"
_OUT_OF_MEMORY: Final = (
    "the kernel killed a Python worker for want of memory; lower batch.rows, or give the executor more memory"
)
_SILENT_END: Final = (
    "a Python worker ended without a word: it was killed, as the kernel does for want of memory, "
    "or it ended itself"
)
_LOSSES: Final = frozenset({_OUT_OF_MEMORY, _SILENT_END, *map(_LOST.format, PROCESS_LOSS_SIGNS)})
"""Reasons that are of processes, and repeat nothing."""
NOISE: Final = ("Caused by:", "Driver stacktrace", "Traceback", "JVM stacktrace")
"""How lines begin that say nothing of the reason."""
_CONDITION: Final = re.compile(r"\s*\[[A-Z0-9_.]+\] ")
"""How Spark begins a message that is meant for people."""
_TRACEBACK: Final = "Traceback (most recent call last)"
_FAULT: Final = re.compile(r"Fatal Python error: (?P<error>[^\n]+)")
_THREAD: Final = "Current thread"
"""The thread that failed, among others."""
_LIBRARY: Final = "/lib/python3"
"""A file below it is no code of the app's."""
_FRAME: Final = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)', re.MULTILINE)


def is_process_loss(error: Exception) -> bool:
    """True if an executor or a Python worker was lost while Spark lives, as far as the message tells."""
    message = str(error)
    return any(sign in message for sign in PROCESS_LOSS_SIGNS)


def failure_reason(error: Exception, *, out_of_memory: bool = False) -> str:
    """The reason of a failure, in one line: of a traceback, the last line.

    `out_of_memory`: the kernel has lately killed a process where workers are.
    """
    message = str(error)
    if out_of_memory and is_process_loss(error):
        return _OUT_OF_MEMORY
    if WORKER_LOSS in message:
        return _end_of_worker(message)
    for sign in PROCESS_LOSS_SIGNS:
        if sign in message:
            return _LOST.format(sign)
    if isinstance(error, PySparkException) and _CONDITION.match(message) and _TRACEBACK not in message:
        return spark_message(error)
    lines = [line for line in message.splitlines() if line.strip()]
    reasons = [line.strip() for line in lines if line[:1].isalpha() and not line.startswith(NOISE)]
    return (reasons or [line.strip() for line in lines] or [type(error).__name__])[-1]


def may_hold_values(reason: str) -> bool:
    """True if the reason of a failed batch may repeat what records hold.

    It does not where a process was lost, and where statuses vouch for all of it.
    """
    if reason in _LOSSES or LANE_LOSS.fullmatch(reason):
        return False
    heads = [part.partition(": ")[0] for part in reason.split("; ")]
    return not all(head in SHOWN_STATUSES for head in heads)


def _end_of_worker(message: str) -> str:
    """The end of a Python worker, with the place that it was at, if it had the time to say so."""
    fault = _FAULT.search(message)
    if fault is None:
        return _SILENT_END
    frames = list(_FRAME.finditer(message, max(message.find(_THREAD), fault.end())))
    frame = next((one for one in frames if _LIBRARY not in one["file"]), frames[0] if frames else None)
    place = f" in {frame['name']}, line {frame['line']} of {Path(frame['file']).name}" if frame else ""
    return f"a Python worker died: {fault['error']}{place}"
