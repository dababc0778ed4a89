"""The files of the repository, as git lists them."""

import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]


def files(pattern: str = "*") -> list[Path]:
    """The tracked files that match and are there; outside a checkout the test is skipped."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("no git checkout: nobody says which files belong to the repository")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", pattern],  # noqa: S607
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [path for name in listed.split("\0") if name and (path := REPOSITORY / name).is_file()]
