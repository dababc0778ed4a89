"""How a run comes to an end that nobody wished for, and what may befall a batch without ending it."""

from collections.abc import Iterable, Mapping
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from streamapp_runtime.driver.executors.spark_session import ExecutorsMissingError
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.stream_system import UnavailableError

MOST_FAILURES: Final = 5
"""So many batches in a row may fail before the app gives up."""
FATAL: Final[Mapping[str, str]] = {
    "bad": "a record cannot be processed",
    "gone": "records that were not yet read are gone",
    "missing": "a stream of the app is gone",
    "unreadable": "what the app left with its streams cannot be read",
    "refused": "the streams' system does not take what is to be written",
}
"""What a task may report that trying again does not mend."""
AWAY: Final = "away"
"""What a task reports when it cannot do without a remote table that is away."""
WAITING: Final = "waiting"
"""What a task reports when its rows wait for such a table."""
WELL: Final = frozenset({"committed", "restoring"})
"""What a task reports when nothing is wrong with it."""
RETRIABLE: Final = (PySparkException, Py4JError, OSError, EOFError, UnavailableError, ExecutorsMissingError)
"""What may befall a batch without anything being wrong with the app: it is tried again."""


def failure_of(reports: Iterable[TaskReport]) -> str | None:
    """Why a batch of which nothing is committed fails; None where it does not."""
    for report in reports:
        if report.status in {AWAY, WAITING}:
            raise UnavailableError(report.message)  # of the records nothing is proved
        if report.status == "code":
            return report.message
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
        if report.status in FATAL:
            raise FinalFailureError(f"{report.task}: {FATAL[report.status]}: {report.message}")
        if report.status == AWAY:
            raise FailedError(report.message)


SIGNS = ("ExecutorLostFailure", "Python worker exited unexpectedly", "SparkContext was shut down")


NOISE = ("Caused by:", "Driver stacktrace", "Traceback", "JVM stacktrace")


def is_process_loss(error: Exception) -> bool:
    """Whether an executor, a Python worker or Spark itself was lost, as far as the message tells."""
    said = str(error)
    return any(sign in said for sign in SIGNS)


def failure_reason(error: Exception) -> str:
    """What a failure says, in one line: of a traceback, the last line."""
    for sign in SIGNS:
        if sign in str(error):
            return f"a process was lost ({sign})"
    said = [line.strip() for line in str(error).splitlines() if line[:1].isalpha()]
    said = [line for line in said if not line.startswith(NOISE)]
    return said[-1] if said else type(error).__name__
