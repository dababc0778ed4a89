"""A simulated operator for each test."""

from collections.abc import Iterator

import pytest

from tests.harness.operator.operator_sim import OperatorSim


@pytest.fixture
def sim(request: pytest.FixtureRequest) -> Iterator[OperatorSim]:
    """An operator before an API server in memory, or before a real one where the test's mark says so."""
    if getattr(request, "param", "memory") == "memory":
        sim = OperatorSim.in_memory()
    else:
        sim = OperatorSim(request.getfixturevalue("api_server"), request.getfixturevalue("namespace"))
    yield sim
    sim.close()
