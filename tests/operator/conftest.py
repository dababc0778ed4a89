"""A stage for each test."""

from collections.abc import Iterator

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.operator.reconcile_stage import Stage


@pytest.fixture
def stage(api_server: ApiServer, namespace: str) -> Iterator[Stage]:
    made = Stage(api_server, namespace)
    yield made
    made.close()
