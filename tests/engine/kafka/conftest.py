"""Apps that run on Kafka in the tests' own process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamapp_runtime.driver.home import Home
from streamapp_runtime.systems.connection import Kafka
from tests.engine.graphs.harness import House, house_at


@pytest.fixture
def there(session: SparkSession, kafka: str, tmp_path: Path) -> Iterator[House]:
    with house_at(session, Home(Kafka(kafka), tmp_path / "state")) as opened:
        yield opened
