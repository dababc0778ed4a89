import re
import tomllib
from typing import Any

from tests.harness.repository.checkout import REPOSITORY

PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
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
