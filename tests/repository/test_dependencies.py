import re
import runpy
import tomllib
from contextlib import redirect_stdout, suppress
from importlib.metadata import PackageNotFoundError, requires
from io import StringIO
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.harness.repository.checkout import REPOSITORY

PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
OLDEST = {"python_version": "3.11", "python_full_version": "3.11.0"}
LINES = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def test_every_constraint_is_one_exact_version_and_nothing_else() -> None:
    assert [line for line in LINES if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []


def test_every_dependency_of_every_extra_is_pinned() -> None:
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *PROJECT["build-system"]["requires"]]
    for extra in project["optional-dependencies"].values():
        wanted += extra
    pinned = {_name(line) for line in LINES}
    assert [requirement for requirement in wanted if _name(requirement) not in pinned] == []


def test_nothing_is_pinned_twice() -> None:
    names = [_name(line) for line in LINES]
    assert len(names) == len(set(names))


def _pins(*extras: str) -> dict[str, str]:
    """What `.ci/requirements` prints for extras: version and hashes by name."""
    with redirect_stdout(StringIO()) as output:
        runpy.run_path(str(REPOSITORY / ".ci" / "requirements"))["main"](REPOSITORY, list(extras))
    printed = output.getvalue()
    pins = re.findall(
        r"^(\S+)==(\S+ \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", printed, re.MULTILINE
    )
    assert "".join(f"{name}=={pin}" for name, pin in pins) == printed, "a pin is a version and hashes alone"
    return {_name(name): pin.split()[0] for name, pin in pins}


def test_every_constraint_has_its_hashes() -> None:
    pinned = dict(line.split("==") for line in LINES)
    versions = {_name(name): version for name, version in pinned.items()}
    assert _pins(*PROJECT["project"]["optional-dependencies"]) == versions


@pytest.mark.parametrize("extras", [["operator"], ["runtime", "redis", "telemetry"], ["dev"]], ids=" ".join)
def test_the_pins_of_extras_are_what_installed_packages_ask_for(extras: list[str]) -> None:
    """The same by the metadata of what is installed here, for this Python and for the oldest."""
    project = PROJECT["project"]
    open_requirements = [*project["dependencies"]]
    for extra in extras:
        open_requirements += project["optional-dependencies"][extra]
    needed: set[str] = set()
    while open_requirements:
        requirement = Requirement(open_requirements.pop())
        wanted_extras = requirement.extras or {""}
        marker = requirement.marker
        worlds = [{"extra": each} | python for each in wanted_extras for python in ({}, OLDEST)]
        if (marker and not any(map(marker.evaluate, worlds))) or _name(requirement.name) in needed:
            continue
        needed.add(_name(requirement.name))
        with suppress(PackageNotFoundError):  # which this Python does not need
            open_requirements += requires(requirement.name) or []
    assert needed - set(_pins(*extras)) == set()


def test_actions_are_named_by_commit() -> None:
    workflows = REPOSITORY / ".github" / "workflows"
    lines = [line for path in workflows.glob("*.yml") for line in path.read_text("utf-8").splitlines()]
    uses = [line.strip() for line in lines if "uses:" in line]
    assert uses
    assert [line for line in uses if not re.search(r"@[0-9a-f]{40} # v[\d.]+$", line)] == []
