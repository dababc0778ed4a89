"""Random apps beside right answers; `make oracle` tries them for as long as one likes."""

import subprocess
from itertools import islice
from pathlib import Path

import pytest

from tests.oracle.search import SearchReport, search, seeds_from

CASES = 60
CASES_WHEN_LONG = 200
CASES_BY_NIGHT = 500
FIRST_SEED = 1_000_000
NO_LIMIT = float("inf")


def _tried(first: int, cases: int) -> None:
    report: SearchReport = search(islice(seeds_from(first), cases), NO_LIMIT)
    if report.wrong is not None:
        lines = "\n".join(report.wrong_lines)
        pytest.fail(f"make oracle SEED={report.wrong} CASE=1\n{lines}", pytrace=False)
    assert report.refused_share < 0.1, report.reasons


def test_some_random_apps_give_right_answers() -> None:
    _tried(FIRST_SEED, CASES)


@pytest.mark.long
def test_many_random_apps_give_right_answers() -> None:
    _tried(FIRST_SEED + CASES, CASES_WHEN_LONG)


@pytest.mark.nightly
def test_random_apps_of_a_new_seed_give_right_answers() -> None:
    """The seed is of the commit: each change is held against others, and a run of it can be repeated."""
    revision = ["git", "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(
        revision, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    ).stdout
    _tried(int(commit, 16), CASES_BY_NIGHT)
