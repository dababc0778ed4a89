"""How a run comes to an end that nobody wished for, and what may befall a batch without ending it."""

from collections.abc import Iterable
from typing import Final, assert_never

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from streamapp_runtime.driver.executors.spark_session import ExecutorsMissingError
from streamapp_runtime.driver.status_rules import STATUS_RULES, Reaction, TrialVerdict
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.stream_system import UnavailableError

MOST_FAILURES: Final = 5
"""So many batches in a row may fail before the app gives up."""
RETRIABLE: Final = (PySparkException, Py4JError, OSError, EOFError, UnavailableError, ExecutorsMissingError)
"""What may befall a batch without anything being wrong with the app: it is tried again."""


def failed_report(reports: Iterable[TaskReport]) -> TaskReport | None:
    """The first report that says of a batch, of which nothing is committed, that it fails; None without."""
    for report in reports:
        match STATUS_RULES[report.status].verdict:
            case TrialVerdict.UNPROVED:
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
    """End the run where a task has reported what trying again does not mend."""
    for report in reports:
        rule = STATUS_RULES[report.status]
        if rule.reaction is Reaction.END_FOR_GOOD:
            raise FinalFailureError(f"{report.task}: {rule.sentence}: {report.message}")
        if rule.reaction is Reaction.END:
            raise FailedError(report.message)


PROCESS_LOSS_SIGNS: Final = (
    "ExecutorLostFailure",
    "Python worker exited unexpectedly",
    "SparkContext was shut down",
)
"""What messages of Spark contain when a process was lost."""
NOISE: Final = ("Caused by:", "Driver stacktrace", "Traceback", "JVM stacktrace")
"""How lines begin that say nothing of the reason."""


def is_process_loss(error: Exception) -> bool:
    """Whether an executor, a Python worker or Spark itself was lost, as far as the message tells."""
    message = str(error)
    return any(sign in message for sign in PROCESS_LOSS_SIGNS)


def failure_reason(error: Exception) -> str:
    """What a failure says, in one line: of a traceback, the last line."""
    for sign in PROCESS_LOSS_SIGNS:
        if sign in str(error):
            return f"a process was lost ({sign})"
    lines = [line.strip() for line in str(error).splitlines() if line[:1].isalpha()]
    reasons = [line for line in lines if not line.startswith(NOISE)]
    return reasons[-1] if reasons else type(error).__name__
