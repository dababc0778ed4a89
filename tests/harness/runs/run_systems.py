"""Where tests run their apps: on an embedded log, on the broker that all share, or once on each."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from streamapp_runtime.driver.start.app_storage import AppStorage, embedded_storage
from streamapp_runtime.expressions.spark_source import DeferredSession
from streamapp_runtime.systems.connection import KafkaConnection
from tests.harness.runs.app_runs import AppEnv, environment_at

ON_KAFKA = pytest.mark.parametrize("env", ["kafka"], indirect=True)
ON_BOTH = pytest.mark.parametrize("env", ["embedded", "kafka"], indirect=True)
WAYS = {"wire": {}, "librdkafka": {"batch.size": "1000000"}}  # a setting that the wire does not follow
"""How a broker is read and written, and the settings by which it is."""


@contextmanager
def embedded(session: DeferredSession, folder: Path) -> Iterator[AppEnv]:
    """A log that lies in the folder."""
    with environment_at(session, embedded_storage(folder)) as env:
        yield env


@contextmanager
def kafka(
    session: DeferredSession, folder: Path, there: KafkaConnection, prefix: str = ""
) -> Iterator[AppEnv]:
    """A broker; topics that nobody else has, since their names begin with a prefix of their own."""
    home = AppStorage(there, folder / "state")
    with environment_at(session, home, prefix or f"t{uuid4().hex[:8]}.") as env:
        yield env
