"""What a forge runs is what anybody can run: targets of the Makefile and scripts of `.ci`."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.harness.repository.checkout import REPOSITORY
from tests.harness.repository.supported_versions import supported_versions

WORKFLOWS: Final = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
TARGETS: Final = set(re.findall(r"^([a-z0-9-]+):", (REPOSITORY / "Makefile").read_text("utf-8"), re.M))


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def test_there_are_workflows_for_tests_and_releases() -> None:
    assert [workflow.stem for workflow in WORKFLOWS] == ["release", "test"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_a_workflow_runs_our_own_commands_alone(workflow: Path) -> None:
    commands = [step["run"].split() for step in steps(workflow) if "run" in step]
    assert commands
    for program, *words in commands:
        assert words[0] in TARGETS if program == "make" else (REPOSITORY / program).is_file()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_a_workflow_may_write_nothing_to_the_repository(workflow: Path) -> None:
    permissions = yaml.safe_load(workflow.read_text("utf-8"))["permissions"]
    assert permissions.pop("contents") == "read"
    assert set(permissions) <= {"attestations", "id-token"}, "what signs a release, and nothing else"


def test_tests_run_where_the_oldest_and_newest_python_and_java_are() -> None:
    (workflow,) = (each for each in WORKFLOWS if each.stem == "test")
    settings = next(job for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values())["steps"]
    installed = {
        key.removesuffix("-version"): str(value).split()
        for step in settings
        for key, value in step.get("with", {}).items()
        if key in {"python-version", "java-version"}
    }
    table = supported_versions()
    assert set(table["Python"]) <= set(installed["python"])
    assert {*table["Java"], "21"} <= set(installed["java"])
    assert (installed["python"][-1], installed["java"][-1]) == (table["Python"][0], table["Java"][0])
