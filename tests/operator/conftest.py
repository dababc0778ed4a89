"""A simulated operator for each test."""

from collections.abc import Iterator

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.operator.operator_sim import OperatorSim


@pytest.fixture
def sim(api_server: ApiServer, namespace: str) -> Iterator[OperatorSim]:
    made = OperatorSim(api_server, namespace)
    yield made
    made.close()
