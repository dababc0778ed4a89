import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

VERBS = sorted(entry.name for entry in entry_points(group="streamapp.commands"))
COMMAND = Path(sys.executable).with_name("streamapp")


def test_help_names_every_verb_with_a_sentence(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for verb in VERBS:
        assert any(
            line.split()[:1] == [verb] and len(line.split()) > 3 for line in result.output.splitlines()
        )


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_has_an_example(run: Run, verb: str) -> None:
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"streamapp {verb}" in result.output


def test_a_misspelt_verb_is_told_beside_the_one_meant(run: Run) -> None:
    result = run("plna")
    assert result.exit_code == 2
    assert 'no verb "plna"; did you mean "plan"?' in result.output


def test_the_version_is_told(run: Run) -> None:
    assert run("--version").output.startswith("streamapp, version ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_calls_the_command(run: Run, shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_STREAMAPP_COMPLETE" in result.output


def test_the_shell_completes_verbs() -> None:
    asked = {"_STREAMAPP_COMPLETE": "bash_complete", "COMP_WORDS": "streamapp pl", "COMP_CWORD": "1"}
    done = subprocess.run([COMMAND], env=os.environ | asked, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"plain,place", "plain,plan"}


def test_help_of_plan_starts_without_loading_the_rules() -> None:
    program = (
        "import sys; from streamapp.cli.main import root; root(['plan', '--help'], standalone_mode=False); "
        "print([m for m in ('pydantic', 'yaml', 'fast_sugiyama', 'streamapp.plan') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen([COMMAND, "crd"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "streamapp", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("streamapp, version ")
