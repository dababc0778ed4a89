"""What all tests have: servers, settings of Spark, the tier of each test, and how random tests run."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from streamapp_runtime.driver.garbage_collection import collect_seldom
from tests.harness.api_server.api_server_fixtures import api_server, namespace, pytest_runtest_makereport
from tests.harness.kafka.broker_fixtures import (
    broker,
    kafka,
    kafka_jars,
    lasting_broker,
    lasting_pair,
    two_brokers,
)
from tests.harness.machine.browser_fixtures import browser
from tests.harness.machine.left_out import is_too_late, must_run
from tests.harness.machine.random_cases import VARIABLE, load_profile
from tests.harness.machine.tiers import UnitTestGuard, is_unit_test, mark_by_fixtures

__all__ = [
    "api_server",
    "broker",
    "browser",
    "kafka",
    "kafka_jars",
    "lasting_broker",
    "lasting_pair",
    "namespace",
    "pytest_runtest_makereport",
    "two_brokers",
]

os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).with_name("harness") / "spark"))

load_profile(os.environ.get(VARIABLE, "unit"), always_the_same=must_run())
_guard = UnitTestGuard()


@pytest.fixture
def process() -> None:
    """Lets a test start processes, open sockets and wait."""


@pytest.fixture
def loopback() -> None:
    """Lets a test serve and connect to addresses of this process."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each test gets the marks of its tier before any is chosen by marks."""
    mark_by_fixtures(items)


def pytest_collection_finish() -> None:
    """All that was imported and collected stays to the end: no garbage collection looks at it again."""
    collect_seldom()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """A unit test whose fixtures start something fails; for others a landing on a slow machine has an end."""
    if not is_unit_test(item) and is_too_late(os.environ):
        pytest.skip(f"this machine was too slow for {item.nodeid}")
    with _guard.watching(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """A unit test that starts something fails."""
    with _guard.watching(item):
        return (yield)
