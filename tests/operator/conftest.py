"""A simulated operator for each test."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.harness.operator.operator_sim import OperatorSim


@pytest.fixture
def sim(request: pytest.FixtureRequest) -> Iterator[OperatorSim]:
    """An operator before an API server in memory; served, or a real one, where the test's mark says so."""
    with ExitStack() as closing:
        match getattr(request, "param", "memory"):
            case "memory":
                sim = OperatorSim.in_memory()
            case "served memory":
                folder = request.getfixturevalue("tmp_path")
                sim = closing.enter_context(OperatorSim.in_served_memory(folder))
            case _:
                server, namespace = (request.getfixturevalue(name) for name in ("api_server", "namespace"))
                sim = OperatorSim(server, namespace)
        yield sim
        sim.close()
