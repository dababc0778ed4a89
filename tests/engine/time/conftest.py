"""A folder for each app of these tests."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pyspark.sql import SparkSession

from tests.engine.graphs.harness import House, house


@pytest.fixture
def here(session: SparkSession) -> Iterator[House]:
    with TemporaryDirectory() as folder, house(session, Path(folder)) as opened:
        yield opened
