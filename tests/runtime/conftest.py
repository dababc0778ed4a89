"""One Spark session for all tests that need one in their own process, and a place for each one's apps."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pyspark.sql import SparkSession

from streamapp_runtime.driver.executors.session_lanes import RESIDENT_VARIABLE, close_lanes, end_open_lanes
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
from streamapp_runtime.expressions.spark_source import DeferredSession
from streamapp_runtime.systems.connection import KafkaConnection
from tests.harness.runs import run_systems
from tests.harness.runs.app_runs import AppEnv


@pytest.fixture(scope="session")
def session() -> Iterator[DeferredSession]:
    opened = open_session("tests", 1)
    # Workers find the user code that lies below tests.
    opened.context.environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    yield opened
    close_lanes()
    close_session(opened)


@pytest.fixture(scope="session")
def spark(session: DeferredSession) -> SparkSession:
    return session.open()


@pytest.fixture(autouse=True)
def free_slots() -> Iterator[None]:
    """Lanes that a test has left open hold the slot that the next one needs."""
    yield
    end_open_lanes()


@pytest.fixture
def two_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two apps run by turns on one session, whose one slot resident lanes of either would keep."""
    monkeypatch.setenv(RESIDENT_VARIABLE, "false")


@pytest.fixture
def env(session: DeferredSession, request: pytest.FixtureRequest) -> Iterator[AppEnv]:
    """Where a test's apps run: on an embedded log, unless its mark says otherwise."""
    with TemporaryDirectory() as folder:
        if getattr(request, "param", "embedded") == "embedded":
            place = run_systems.embedded(session, Path(folder))
        else:
            place = run_systems.kafka(
                session, Path(folder), KafkaConnection(request.getfixturevalue("kafka"))
            )
        with place as env:
            yield env
