"""One session for all apps of these tests, and a folder for each of them."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pyspark.sql import SparkSession

from streamapp_runtime.driver.session import open_session
from tests.engine.graphs.harness import House, house


@pytest.fixture(scope="package")
def session() -> Iterator[SparkSession]:
    opened = open_session("graphs", 1)
    opened.sparkContext.environment["PYTHONPATH"] = str(
        Path(__file__).parents[3]
    )  # for user code below tests
    yield opened
    opened.stop()


@pytest.fixture
def here(session: SparkSession) -> Iterator[House]:
    with TemporaryDirectory() as folder, house(session, Path(folder)) as opened:
        yield opened
