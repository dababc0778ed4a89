import ast
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest
from click.testing import Result

from streamapp.cli.main import root

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


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_calls_the_command(run: Run, shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_STREAMAPP_COMPLETE" in result.output


@pytest.mark.usefixtures("process")
def test_the_shell_completes_verbs() -> None:
    asked = {"_STREAMAPP_COMPLETE": "bash_complete", "COMP_WORDS": "streamapp pl", "COMP_CWORD": "1"}
    done = subprocess.run([COMMAND], env=os.environ | asked, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"plain,place", "plain,plan"}


@pytest.mark.usefixtures("process")
def test_help_of_plan_starts_without_loading_the_rules() -> None:
    program = (
        "import sys; from streamapp.cli.main import root; root(['plan', '--help'], standalone_mode=False); "
        "print([m for m in ('pydantic', 'yaml', 'fast_sugiyama', 'streamapp.plan') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


@pytest.mark.usefixtures("process")
def test_the_list_of_verbs_is_printed_without_loading_them() -> None:
    program = (
        "import sys; from streamapp.cli.main import root; root(['--help'], standalone_mode=False); "
        "print([m for m in sys.modules if '.cli.' in m and m.startswith('streamapp') or m == 'pydantic'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(done.stdout.splitlines()[-1])
    assert "pydantic" not in loaded
    assert not {module.rsplit(".", 1)[1] for module in loaded} & set(VERBS)


def test_the_list_says_of_each_verb_what_the_verb_says(run: Run) -> None:
    context = click.Context(root, info_name="streamapp")
    lines = " ".join(run("--help").output.split())
    for name in VERBS:
        verb = root.get_command(context, name)  # type: ignore[attr-defined]
        assert f"{name} {verb.short_help}" in lines


@pytest.fixture
def other_package(tmp_path: Path) -> Path:
    """A folder on the path with a package that adds two verbs, one of which needs what is not there."""
    (tmp_path / "far.py").write_text(
        "import click\n"
        "near = click.Command('near', short_help='Print what is near.')\n"
        "@click.command(short_help='Print what is far.')\n"
        "def far():\n"
        "    import no_telescope\n"
    )
    info = tmp_path / "far-1.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(
        "Metadata-Version: 2.1\nName: far\nVersion: 1\nProvides-Extra: sight\n"
        "Requires-Dist: no-telescope>=1; extra == 'sight'\n"
    )
    info.joinpath("entry_points.txt").write_text(
        "[streamapp.commands]\nnear = far:near\nfar = far:far [sight]\n"
    )
    return tmp_path


@pytest.mark.usefixtures("process")
def test_verbs_of_other_packages_are_listed_and_what_they_lack_is_named(other_package: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(other_package)}
    done = subprocess.run([COMMAND, "--help"], env=environment, capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert ["near", "Print what is near."] in lines
    assert ["far", '(not installed: pip install "far[sight]")'] in lines


@pytest.mark.usefixtures("process")
def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen([COMMAND, "crd"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""


@pytest.mark.usefixtures("process")
def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "streamapp", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("streamapp, version ")
