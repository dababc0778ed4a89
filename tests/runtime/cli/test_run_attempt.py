"""A fault of the product's own ends a run in one sentence, and its traceback goes to the run's log."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp.control import bookkeeping_codec
from streamapp.protocol.termination import ExitCode
from streamapp_runtime.cli.run_process.run_attempt import run_to_end
from streamapp_runtime.driver.modes.stop_signal import SignalStop
from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
from streamapp_runtime.driver.reporting.metric_values import RunMetrics
from streamapp_runtime.driver.reporting.progress_log import ProgressLog
from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.spark.spark_output import SPARK_OUTPUT


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    file_before = SPARK_OUTPUT.file
    handlers_before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    SPARK_OUTPUT.keep_in(tmp_path / "logs" / "app.log")
    yield tmp_path / "logs" / "app.log"
    SPARK_OUTPUT.file = file_before
    for number, handler in handlers_before.items():
        signal.signal(number, handler)


def test_the_sentence_names_the_place_and_the_log_has_the_traceback(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def start(_: SignalStop, __: RunObserver) -> None:
        bookkeeping_codec.encode_bookkeeping(None)  # type: ignore[arg-type]

    progress = ProgressLog(lambda _: None, lambda: 0.0)
    run_end = run_to_end(start, DriverLiveness(lambda: 0.0), [progress, RunMetrics()])
    assert run_end.code is ExitCode.RETRY
    assert run_end.message.startswith("StreamApp itself failed at streamapp.control.bookkeeping_")
    assert run_end.message.endswith("; report this")
    assert capfd.readouterr().err == ""
    traceback = log.read_text("utf-8")
    assert traceback.startswith("Traceback (most recent call last):")
    assert "bookkeeping_codec.py" in traceback


@pytest.mark.usefixtures("log")
def test_a_full_disk_is_no_fault_of_the_product() -> None:
    def start(_: SignalStop, __: RunObserver) -> None:
        Path("/dev/full").write_text("no room for this", "utf-8")

    run_end = run_to_end(start, DriverLiveness(lambda: 0.0), [RunMetrics()])
    assert (run_end.code, run_end.message) == (
        ExitCode.RETRY,
        "a disk is full, and a file could not be written: make room where state and streams are",
    )
