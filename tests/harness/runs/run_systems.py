"""Where tests run their apps.

On an embedded log with lanes in the test's own process, unless a mark says that Spark runs them or that the
records lie on the broker that all tests share. Lanes over Kafka are in the test's own process too, unless a
test kills workers of Spark, or has Spark compute.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

import pytest
from pyspark import SparkContext

from streamapp_runtime.driver.start.app_storage import AppStorage, embedded_storage
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.systems.connection import KafkaConnection, SystemConnections
from tests.harness.runs.app_runs import AppEnv, environment_at

_SPARK = pytest.param("embedded", marks=pytest.mark.spark)
_KAFKA = pytest.param("kafka", marks=pytest.mark.broker)
_SPARK_OVER_KAFKA = pytest.param("spark over kafka", marks=[pytest.mark.spark, pytest.mark.broker])
ON_SPARK = pytest.mark.parametrize("env", [_SPARK], indirect=True)
ON_KAFKA = pytest.mark.parametrize("env", [_KAFKA], indirect=True)
ON_SPARK_OVER_KAFKA = pytest.mark.parametrize("env", [_SPARK_OVER_KAFKA], indirect=True)
ON_BOTH = pytest.mark.parametrize("env", ["in process", _KAFKA], indirect=True)
_SPARK_NIGHTLY = pytest.param("embedded", marks=[pytest.mark.spark, pytest.mark.nightly])
ON_SPARK_BY_NIGHT = pytest.mark.parametrize("env", [_SPARK_NIGHTLY], indirect=True)
ON_SPARK_AND_KAFKA = pytest.mark.parametrize("env", [_SPARK_NIGHTLY, _KAFKA], indirect=True)
"""The same loop: over Kafka at each landing, on executors over an embedded log each night."""
ON_SPARK_OVER_BOTH = pytest.mark.parametrize("env", [_SPARK_NIGHTLY, _SPARK_OVER_KAFKA], indirect=True)
"""The same loop on the same executors: over Kafka at each landing, over an embedded log each night."""


@contextmanager
def in_process(folder: Path) -> Iterator[AppEnv]:
    """A log that lies in the folder, and lanes in this process, which ask no Spark."""
    with environment_at(no_session(), embedded_storage(folder)) as env:
        yield env


def no_session() -> SparkOnDemand:
    """What stands for a session where lanes are in the test's own process: it fails who asks Spark."""
    return SparkOnDemand(_no_spark)


def _no_spark(text: str) -> NoReturn:
    pytest.fail(f"only Spark can judge or compute this; the test has to say ON_SPARK: {text}")


@contextmanager
def embedded(session: SparkContext, folder: Path) -> Iterator[AppEnv]:
    """A log that lies in the folder, and lanes on the executors of a session."""
    with environment_at(session, embedded_storage(folder)) as env:
        yield env


@contextmanager
def kafka(
    session: SparkContext | SparkOnDemand, folder: Path, there: KafkaConnection, prefix: str = ""
) -> Iterator[AppEnv]:
    """A broker; topics that nobody else has, since their names begin with a prefix of their own."""
    home = AppStorage(SystemConnections("main", {"main": there}), folder / "state")
    with environment_at(session, home, prefix or f"t{uuid4().hex[:8]}.") as env:
        yield env
