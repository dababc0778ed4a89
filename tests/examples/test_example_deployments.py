"""Which examples go to a cluster by one command, and what is said of those that do not."""

import subprocess
import sys
from pathlib import Path

import pytest

from examples.example_apps import app_of, example, names
from examples.example_deployment import deployable_names

ROOT = Path(__file__).parents[2]


def deploy(*arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples", "deploy", *arguments]
    return subprocess.run(command, cwd=ROOT, env={"PATH": path}, capture_output=True, text=True, check=False)


def test_the_page_names_the_examples_that_can_be_deployed() -> None:
    page = (ROOT / "docs" / "guide" / "examples.md").read_text("utf-8")
    assert ", ".join(f"`{name}`" for name in deployable_names()) in page.replace(" and ", ", ")


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", sorted(set(names()) - set(deployable_names())))
def test_an_example_that_waits_for_the_end_of_its_streams_or_writes_tables_is_not_deployed(name: str) -> None:
    done = deploy(name)
    assert done.returncode == 2
    text = (example(name).folder / example(name).generator.APPS[0]).read_text("utf-8")
    reason = "writes tables on this machine" if "primaryKey" in text else "come when the streams end"
    assert reason in done.stderr


def test_what_can_be_deployed_is_one_app_without_windows() -> None:
    for name in deployable_names():
        (source,) = example(name).sources
        assert "window" not in source.read_text("utf-8")
        assert app_of(source).metadata.name == name


@pytest.mark.usefixtures("process")
def test_what_is_missing_on_the_machine_is_named_at_once() -> None:
    done = deploy("fraud")
    assert (done.returncode, done.stderr) == (
        1,
        "this needs docker, kind, kubectl, helm, make, mvn on the PATH\n",
    )
    done = deploy("fraud", "--context", "somewhere")
    assert (done.returncode, done.stderr) == (1, "this needs kubectl on the PATH\n")


@pytest.mark.usefixtures("process")
def test_building_for_a_cluster_of_somebody_elses_is_refused() -> None:
    done = deploy("fraud", "--context", "somewhere", "--build")
    assert done.returncode == 2
    assert "leave --context out" in done.stderr
