"""Error output of Spark and of its workers is kept in a file; what the app's code prints stays in sight."""

from pathlib import Path

import pytest
from pyspark.logger import PySparkLogger

from streamapp_runtime.driver.spark.spark_output import SparkOutput

FRAMES = """\
  File "pyspark/daemon.py", line 264, in manager
  File "pyspark/daemon.py", line 95, in worker
"""
BROKEN_PIPE = "BrokenPipeError: [Errno 32] Broken pipe\n"
TRACEBACK = "Traceback (most recent call last):\n"
MIXED = TRACEBACK * 2 + FRAMES + BROKEN_PIPE + FRAMES + BROKEN_PIPE
FAULT = 'Fatal Python error: Segmentation fault\n\nCurrent thread 0x07:\n  File "map.py", line 3 in shout\n'


def written(output: SparkOutput, text: str) -> None:
    for line in text.splitlines(keepends=True):
        output.write(line)


@pytest.mark.parametrize("errors", [TRACEBACK + FRAMES + BROKEN_PIPE, MIXED, FAULT])
def test_only_what_is_no_error_output_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], errors: str
) -> None:
    output, file = SparkOutput(), tmp_path / "logs" / "app.log"
    output.keep_in(file)
    written(output, f"one\n{errors}two\n")
    assert capsys.readouterr().err == "one\ntwo\n"
    assert file.read_text() == f"one\n{errors}two\n".replace("\n\n", "\n")


def test_a_run_replaces_the_file_of_the_one_before_once_it_has_something_to_keep(tmp_path: Path) -> None:
    output, file = SparkOutput(), tmp_path / "app.log"
    file.write_text("of the run before\n")
    output.keep_in(file)
    assert not output.written
    written(output, "spark: ERROR lost\n")
    assert (output.written, file.read_text()) == (True, "spark: ERROR lost\n")


def test_without_a_file_everything_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    written(SparkOutput(), MIXED)
    assert capsys.readouterr().err == MIXED


def test_nothing_is_kept_while_muted(tmp_path: Path) -> None:
    output, file = SparkOutput(), tmp_path / "app.log"
    output.keep_in(file)
    output.mute(True)
    written(output, MIXED)
    assert not file.exists()


def test_what_pyspark_logs_of_an_expression_is_kept_and_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, file = SparkOutput(), tmp_path / "app.log"
    output.keep_in(file)
    PySparkLogger.getLogger("SQLQueryContextLogger").error("by zero", errorClass="DIVIDE_BY_ZERO")
    assert capsys.readouterr().err == ""
    assert "DIVIDE_BY_ZERO" in file.read_text()
