"""One Spark session for all tests that need one in their own process, and a place for each one's apps."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from streamapp_runtime.driver.executors.session_lanes import close_lanes, end_open_lanes
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
from streamapp_runtime.systems.connection import KafkaConnection
from streamapp_runtime.testing.shared_jvm import end_shared_jvm
from tests.harness.runs import run_systems
from tests.harness.runs.app_runs import AppEnv


@pytest.fixture(scope="session")
def session() -> Iterator[SparkContext]:
    opened = open_session("tests", 1)
    # Workers find the user code that lies below tests.
    opened.environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    yield opened
    close_lanes()
    close_session(opened)


@pytest.fixture(scope="session")
def spark(session: SparkContext) -> SparkSession:
    return SparkSession.builder.getOrCreate()


@pytest.fixture(scope="session")
def kit_jvm() -> Iterator[None]:
    """The JVM of tests in this process, which the first expression starts."""
    yield
    end_shared_jvm()


@pytest.fixture(autouse=True)
def free_slots() -> Iterator[None]:
    """Lanes that a test has left open hold the slot that the next one needs."""
    yield
    end_open_lanes()


@pytest.fixture
def env(request: pytest.FixtureRequest) -> Iterator[AppEnv]:
    """The place of a test's apps: an embedded log and this process, unless a mark says otherwise."""
    ways: dict[str, Callable[[Path], AbstractContextManager[AppEnv]]] = {
        "in process": run_systems.in_process,
        "embedded": lambda folder: run_systems.embedded(request.getfixturevalue("session"), folder),
        "kafka": lambda folder: run_systems.kafka(
            run_systems.no_session(), folder, KafkaConnection(request.getfixturevalue("kafka"))
        ),
        "spark over kafka": lambda folder: run_systems.kafka(
            request.getfixturevalue("session"), folder, KafkaConnection(request.getfixturevalue("kafka"))
        ),
    }
    way = getattr(request, "param", "in process")
    with TemporaryDirectory() as folder, ways[way](Path(folder)) as env:
        yield env
