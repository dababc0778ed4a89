"""A failed job says in many lines what happened: people get one, and no record is blamed for a kill."""

import pytest
from pyspark.errors import PySparkException

from streamapp_runtime.driver.executors.batch_exchange import LaneLoss, LaneLostError
from streamapp_runtime.driver.failures import (
    UnprovedTrialError,
    failure_reason,
    is_process_loss,
    may_hold_values,
)

CRASHED = """Job aborted due to stage failure: Task 0 in stage 4.0 failed 1 times, most recent failure: \
Lost task 0.0 in stage 4.0 (TID 6) (host executor 1): org.apache.spark.SparkException: \
Python worker exited unexpectedly (crashed)
\tat org.apache.spark.api.python.BasePythonRunner.compute(PythonRunner.scala)
Caused by: java.io.EOFException
\t... 9 more

Driver stacktrace:"""
RAISED = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "stage.py", line 104, in run
    raise ValueError("no such stream")
ValueError: no such stream

\tat org.apache.spark.api.python.BasePythonRunner.compute(PythonRunner.scala)
Driver stacktrace:"""


def test_the_end_of_a_process_is_told_as_that() -> None:
    assert failure_reason(PySparkException(CRASHED)).startswith("a Python worker ended without a word")
    assert failure_reason(PySparkException("ExecutorLostFailure (executor 1 exited)")) == (
        "a process was lost (ExecutorLostFailure)"
    )


def test_a_worker_that_died_of_a_fault_is_told_with_the_place_of_it() -> None:
    frames = [("ctypes/__init__.py", 519, "string_at"), ("scores.py", 31, "rated"), ("map.py", 96, "_called")]
    folders = ("/usr/lib/python3.11", "/app/code", "/app")
    own = [
        f'  File "{where}/{file}", line {n} in {name}'
        for where, (file, n, name) in zip(folders, frames, strict=True)
    ]
    other = ["Thread 0x08 (most recent call first):", '  File "/app/threads.py", line 331 in wait', ""]
    fault = "\n".join(["Fatal Python error: Segmentation fault", "", *other, "Current thread 0x07:", *own])
    error = PySparkException(CRASHED.replace("(crashed)", f"(crashed): {fault}"))
    assert failure_reason(error) == (
        "a Python worker died: Segmentation fault in rated, line 31 of scores.py"
    )


def test_of_what_a_worker_raised_the_error_itself_is_told() -> None:
    assert failure_reason(PySparkException(RAISED)) == "ValueError: no such stream"


def test_of_an_expression_that_fails_spark_s_own_sentence_is_told_without_a_setting_of_the_engine() -> None:
    advice = 'If necessary set "spark.sql.ansi.enabled" to "false" to bypass this error.'
    said = (
        f"[DIVIDE_BY_ZERO] Division by zero. Use `try_divide`. {advice} SQLSTATE: 22012\n== SQL (line 1) ==\n"
    )
    error = PySparkException(f"{said}\nJVM stacktrace:\nArithmeticException\n\tat org.apache.spark")
    assert failure_reason(error) == "Spark says: Division by zero. Use `try_divide`"


def test_an_error_without_words_is_told_by_its_kind() -> None:
    assert failure_reason(EOFError()) == "EOFError"


def test_a_message_that_begins_with_a_path_or_a_number_is_told_as_it_is() -> None:
    assert failure_reason(UnprovedTrialError("/state/users cannot be used")) == "/state/users cannot be used"
    assert failure_reason(OSError(28, "No space left on device")) == "[Errno 28] No space left on device"


@pytest.mark.parametrize(("said", "expected"), [(CRASHED, True), (RAISED, False)])
def test_only_the_loss_of_a_process_clears_the_records(said: str, expected: bool) -> None:
    assert is_process_loss(PySparkException(said)) is expected


@pytest.mark.parametrize(
    "reason",
    [
        "bad: views#0 at offset 12: no JSON",
        "unavailable: no answer; code: KeyError: 'ann'",
        "unavailable: no answer; ann",
        "Spark says: the value 'ann' cannot be cast",
        "a process was lost (ann)",
        "the lane of ann was lost: KeyError",
        "",
    ],
)
def test_a_reason_that_nothing_vouches_for_may_hold_values(reason: str) -> None:
    assert may_hold_values(reason)


@pytest.mark.parametrize(
    "error",
    [
        PySparkException(CRASHED),
        PySparkException("ExecutorLostFailure (executor 1 exited)"),
        *(LaneLostError("processor-1", loss) for loss in LaneLoss),
    ],
    ids=["worker", "executor", *(f"lane, {loss.name.lower()}" for loss in LaneLoss)],
)
def test_the_loss_of_a_process_repeats_no_value(error: Exception) -> None:
    for out_of_memory in (False, True):
        assert not may_hold_values(failure_reason(error, out_of_memory=out_of_memory))


def test_a_reason_of_systems_alone_repeats_no_value() -> None:
    assert not may_hold_values("unavailable: broker-1 does not answer; full: no space on the volume")
