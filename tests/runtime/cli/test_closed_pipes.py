"""A verb whose reader has closed the pipe ends without a word, as a signal would have ended it."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from streamapp.cli.main import root
from tests.harness.runs.run_process import COMMAND, EXAMPLE

ONE_OF_EACH = {"help", "help of a verb", "plan", "log read"}  # the others write as one of these does
TOPICS = EXAMPLE.with_name("topics.yaml")
PLANNED = [EXAMPLE, "--catalog", TOPICS]
VERBS: dict[str, list[str | Path]] = {
    "help": ["--help"],
    "help of a verb": ["run", "--help"],
    "check": ["check", EXAMPLE],
    "plan": ["plan", *PLANNED],
    "plan as JSON": ["plan", *PLANNED, "-o", "json"],
    "tasks": ["tasks", *PLANNED],
    "place": ["place", *PLANNED],
    "render": ["render", EXAMPLE],
    "crd": ["crd"],
    "completion": ["completion", "bash"],
    "log list": ["log", "list", "data"],
    "log read": ["log", "read", "data", "views"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with a stream of some records."""
    folder = tmp_path_factory.mktemp("pipes")
    (folder / "views.jsonl").write_text('{"user": "ann"}\n' * 20_000)
    words = ["log", "write", str(folder / "data"), "views", str(folder / "views.jsonl"), "--key", "user"]
    assert CliRunner().invoke(root, words).exit_code == 0
    return folder


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    "verb",
    [pytest.param(verb, marks=() if verb in ONE_OF_EACH else pytest.mark.nightly) for verb in VERBS],
)
def test_a_verb_whose_output_nobody_reads_ends_silently_as_by_the_signal(folder: Path, verb: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [COMMAND, *VERBS[verb]],
            cwd=folder,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.usefixtures("process")
def test_a_reader_that_leaves_after_a_line_ends_the_verb(folder: Path) -> None:
    command = [COMMAND, "log", "read", "data", "views"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as reading:
        assert reading.stdout is not None
        assert reading.stderr is not None
        assert reading.stdout.readline() == '{"user": "ann"}\n'
        reading.stdout.close()
        assert reading.stderr.read() == ""
    assert reading.returncode == 128 + signal.SIGPIPE


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "nobody reads it"])
def test_a_refusal_that_nobody_can_read_ends_as_ever(tmp_path: Path, closed: bool) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(EXAMPLE.read_text().replace("table: users,", "table: user,"))
    reading, writing = os.pipe()
    os.close(reading)
    redirected = "2>&-" if closed else f"2>&{writing}"
    command = ["bash", "-c", f'"$0" run "$1" --data "$2" {redirected}', COMMAND, file, tmp_path / "data"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, pass_fds=[writing], timeout=60, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stdout) == (1 if closed else 128 + signal.SIGPIPE, b"")
