"""A program of an app that is started with Python itself, and what it says at its end."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from streamapp.dsl import App
app = App("page-views")
"""
SENTENCE = (
    "views.py defines the app page-views and runs nothing. Type `streamapp plan views.py` to see what it "
    "would do, or `streamapp run views.py` to run it.\n"
)


def _started(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "views.py").write_text(text)
    command = [sys.executable, *(arguments or ("views.py",))]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("process")
def test_a_program_that_only_built_an_app_says_what_to_type(tmp_path: Path) -> None:
    ended = _started(tmp_path, PROGRAM)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", SENTENCE)


@pytest.mark.usefixtures("process")
def test_a_program_of_several_apps_names_them_all(tmp_path: Path) -> None:
    ended = _started(tmp_path, PROGRAM + 'other = App("orders")\n')
    assert "views.py defines the apps page-views, orders and runs nothing." in ended.stderr


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("more", ["app.parsed()", "del app"])
def test_a_program_that_used_its_app_or_has_none_any_more_says_nothing(more: str, tmp_path: Path) -> None:
    ended = _started(tmp_path, PROGRAM + more)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.usefixtures("process")
def test_a_program_that_fails_says_only_why(tmp_path: Path) -> None:
    ended = _started(tmp_path, PROGRAM + 'App("other", processor=3)\n')
    assert ended.returncode == 1
    assert ended.stderr.endswith('App: unknown argument "processor"; did you mean "processors"?\n')


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("arguments", [["-c", "import views"], ["-m", "streamapp", "check", "views.py"]])
def test_commands_and_imports_say_nothing(arguments: list[str], tmp_path: Path) -> None:
    assert "defines the app" not in _started(tmp_path, PROGRAM, *arguments).stderr
