"""`streamapp run` at a real terminal: progress in one line that is rewritten; in a pipe and in CI, lines."""

import re
import subprocess
from pathlib import Path

import pytest

from streamapp_runtime.cli.run_process.message_output import CLEAR_LINE
from tests.harness.machine.terminal_process import terminal_process
from tests.harness.runs.run_process import COMMAND, EXAMPLE

SECONDS = 120.0
PROGRESS = re.compile(r"in [\d,]+/s  out [\d,]+/s  lag [\d,]+  ETA (unknown|\d+:\d\d:\d\d)")
LINE = re.compile(r"^batch +\d+  in +[\d,]+/s  out +[\d,]+/s  lag +[\d,]+ +[\d,]+ ms a batch", re.MULTILINE)


def run_command(data: Path, *words: str) -> list[str | Path]:
    options = ["--processors", "1", "--batch-rows", "100", *words]
    return [COMMAND, "run", EXAMPLE, "--data", data, *options]


@pytest.mark.usefixtures("process")
def test_bounded_work_shows_rates_lag_and_its_end_in_one_line(unread_data: Path) -> None:
    command = run_command(unread_data, "--until-end", "--batch-rows", "50")
    with terminal_process(command, size=(80, 24)) as terminal:
        assert terminal.ended() == 0
        begun, *progress, summary = terminal.raw.split(CLEAR_LINE)
    assert "4 tasks on 1 processor" in begun
    assert "rows in" in summary
    lines = [begun.splitlines()[-1], *progress]
    assert len(lines) > 1
    assert all(PROGRESS.match(line) for line in lines)
    assert max(map(len, lines)) < 80
    assert any(re.search(r"ETA \d", line) for line in lines), "batches went on for longer than a second"


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_a_run_without_an_end_shows_none(unread_data: Path) -> None:
    with terminal_process(run_command(unread_data)) as terminal:
        raw = terminal.until_raw(lambda raw: "idle: all is read" in raw)
        assert re.search(r"in [\d,]+/s  out [\d,]+/s  lag [\d,]+", raw)
        assert "ETA" not in raw
        assert terminal.press_ctrl_c() == 0


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_a_pipe_gets_lines_without_a_control_character(unread_data: Path) -> None:
    command = run_command(unread_data, "--until-end")
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    assert LINE.search(done.stderr)
    assert not {"\r", "\x1b"} & set(done.stderr)
    assert "ETA" not in done.stderr


@pytest.mark.usefixtures("process")
@pytest.mark.nightly
@pytest.mark.parametrize("environment", [{"CI": "true"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_that_is_a_log_gets_lines(unread_data: Path, environment: dict[str, str]) -> None:
    with terminal_process(run_command(unread_data, "--until-end"), environment) as terminal:
        assert terminal.ended() == 0
        assert LINE.search(terminal.raw.replace("\r\n", "\n"))
        assert CLEAR_LINE not in terminal.raw
