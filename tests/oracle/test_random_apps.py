"""Random apps beside right answers, for some seconds; `make oracle` does so for as long as one likes."""

import time

import pytest

from tests.oracle.search import SearchReport, search, seeds_from

SECONDS = 12
SECONDS_WHEN_LONG = 180
FIRST_SEED = 1_000_000


def _require_right(report: SearchReport) -> None:
    if report.wrong is not None:
        lines = "\n".join(report.wrong_lines)
        pytest.fail(f"make oracle SEED={report.wrong} CASE=1\n{lines}", pytrace=False)
    assert report.refused_share < 0.1, report.reasons


def test_some_random_apps_give_right_answers() -> None:
    _require_right(search(seeds_from(FIRST_SEED), SECONDS))


@pytest.mark.long
def test_random_apps_of_a_new_seed_give_right_answers() -> None:
    first = time.time_ns() % 1_000_000_000
    print(f"seed {first}")  # noqa: T201 - what a failure is replayed with
    report = search(seeds_from(first), SECONDS_WHEN_LONG)
    _require_right(report)
