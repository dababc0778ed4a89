"""One Spark session for all tests that need one in their own process: a process can have but one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamapp_runtime.driver.session import close_session, open_session


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    opened = open_session("tests", 1)
    # Workers find the user code that lies below tests.
    opened.sparkContext.environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    yield opened
    close_session(opened)


@pytest.fixture(scope="session")
def spark(session: SparkSession) -> SparkSession:
    return session
