"""Random apps beside right answers; `make oracle` tries them for as long as one likes."""

import subprocess
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from tests.oracle.cases.case import Case, Kill
from tests.oracle.cases.data_generator import random_case
from tests.oracle.command_driver import CommandDriver
from tests.oracle.kafka_cases import fits_kafka
from tests.oracle.kit_driver import run_in_kit
from tests.oracle.search import SearchReport, search, seeds_from
from tests.oracle.trial import CaseDriver

CASES = 60
CASES_WHEN_LONG = 200
CASES_BY_NIGHT = 500
CASES_BY_PROCESSES = 2
CASES_BY_PROCESSES_BY_NIGHT = 60
CASES_ON_KAFKA = 2
CASES_ON_KAFKA_BY_NIGHT = 40
FIRST_SEED = 1_000_000
NO_LIMIT = float("inf")


def _tried(seeds: Iterable[int], driver: CaseDriver = run_in_kit, option: str = "") -> None:
    report: SearchReport = search(seeds, NO_LIMIT, driver)
    if report.wrong is not None:
        lines = "\n".join(report.wrong_lines)
        pytest.fail(f"make oracle SEED={report.wrong} CASE=1{option}\n{lines}", pytrace=False)
    assert report.refused_share < 0.1, report.reasons


def test_some_random_apps_give_right_answers() -> None:
    _tried(islice(seeds_from(FIRST_SEED), CASES))


@pytest.mark.long
def test_many_random_apps_give_right_answers() -> None:
    _tried(islice(seeds_from(FIRST_SEED + CASES), CASES_WHEN_LONG))


def _killed(first: int, cases: int) -> None:
    """Apps that are killed at least once, run by the command."""
    cases_with_kills = (
        seed for seed in seeds_from(first) if _is_killed(case := random_case(seed)) and not case.needs_kit
    )
    driver = CommandDriver()
    _tried(islice(cases_with_kills, cases), driver, " PROCESSES=1")
    assert driver.deaths


def _is_killed(case: Case) -> bool:
    return any(isinstance(step, Kill) for step in case.steps)


@pytest.mark.long
@pytest.mark.usefixtures("process")
def test_random_apps_give_right_answers_though_their_processes_are_killed() -> None:
    _killed(FIRST_SEED, CASES_BY_PROCESSES)


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_more_random_apps_give_right_answers_though_their_processes_are_killed() -> None:
    _killed(2 * FIRST_SEED, CASES_BY_PROCESSES_BY_NIGHT)


def _on_kafka(address: str, first: int, cases: int) -> None:
    """Apps that are killed at least once, run by the command, with their streams in topics."""
    fitting = (
        seed for seed in seeds_from(first) if _is_killed(case := random_case(seed)) and fits_kafka(case)
    )
    driver = CommandDriver(address)
    _tried(islice(fitting, cases), driver, " KAFKA=host:port")
    assert driver.deaths


@pytest.mark.long
@pytest.mark.usefixtures("process")
def test_random_apps_on_kafka_give_right_answers_though_their_processes_are_killed(kafka: str) -> None:
    _on_kafka(kafka, FIRST_SEED, CASES_ON_KAFKA)


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_more_random_apps_on_kafka_give_right_answers_though_their_processes_are_killed(kafka: str) -> None:
    _on_kafka(kafka, 2 * FIRST_SEED, CASES_ON_KAFKA_BY_NIGHT)


@pytest.mark.nightly
def test_random_apps_of_a_new_seed_give_right_answers() -> None:
    """The seed is of the commit: each change is held against others, and a run of it can be repeated."""
    revision = ["git", "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(
        revision, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    ).stdout
    _tried(islice(seeds_from(int(commit, 16)), CASES_BY_NIGHT))
