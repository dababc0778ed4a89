"""The same scenes on the API server in memory and on the real one end the same: so the first may stand in."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.memory_api import MemoryApi
from tests.harness.operator.operator_sim import START, OperatorSim
from tests.harness.operator.small_apps import join


def _launch(sim: OperatorSim) -> None:
    sim.bring_up(join())


def _failure(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.fail_driver(5)


def _edit(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(restartNonce=1)
    sim.settle()
    sim.executor(1)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    sim.remove("app-exec-1")
    sim.settle()


def _bad_edit(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="admin", processors=5)
    sim.settle()
    sim.edit(serviceAccountName=None)
    sim.settle()


def _rest(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(suspend=True)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()


@pytest.mark.parametrize(
    "scene", [pytest.param(_launch, marks=pytest.mark.smoke), _failure, _edit, _bad_edit, _rest]
)
def test_a_scene_ends_the_same(
    api_server: ApiServer, namespace: str, scene: Callable[[OperatorSim], None]
) -> None:
    ends = []
    for server in (api_server, MemoryApi(lambda: START)):
        sim = OperatorSim(server, namespace)
        try:
            scene(sim)
            ends.append(_end(sim))
        finally:
            sim.close()
    assert ends[0] == ends[1]


def _end(sim: OperatorSim) -> dict[str, Any]:
    status = sim.status()
    status["driver"].pop("uid", None)
    for part in (status["jobModel"], *status["conditions"]):
        for name in ("runId", "hash", "lastTransitionTime"):
            part.pop(name, None)
    names = {plural: sim.names(plural) for plural in ("pods", "configmaps", "services", "serviceaccounts")}
    found: dict[str, Any] = json.loads(json.dumps({"status": status, "names": names}))
    return found
