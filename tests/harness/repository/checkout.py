"""The files of the repository, as git lists them."""

import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]


def _tracked() -> tuple[str, ...]:
    """The names of all tracked files; none outside a checkout."""
    if not (REPOSITORY / ".git").exists():
        return ()
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    return tuple(name for name in listed.split("\0") if name)


_TRACKED = _tracked()  # once as tests are collected, since a unit test starts no process


def files(pattern: str = "*") -> list[Path]:
    """The tracked files that match and are there; outside a checkout the test is skipped."""
    if not _TRACKED:
        pytest.skip("no git checkout: nobody says which files belong to the repository")
    return [path for name in _TRACKED if fnmatch(name, pattern) and (path := REPOSITORY / name).is_file()]
