"""The same scenes on the API server in memory and on the real one end the same: so the first may stand in."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.memory_api import MemoryApi
from tests.harness.operator.reconcile_stage import START, Stage
from tests.harness.operator.small_apps import join


def _launch(stage: Stage) -> None:
    stage.bring_up(join())


def _failure(stage: Stage) -> None:
    stage.bring_up(join())
    stage.end(code=3)
    stage.settle()
    stage.pass_time(5)
    stage.settle()


def _edit(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(restartNonce=1)
    stage.settle()
    stage.executor(1)
    stage.settle()
    stage.remove("app-driver-1")
    stage.settle()
    stage.remove("app-exec-1")
    stage.settle()


def _bad_edit(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(serviceAccountName="admin", processors=5)
    stage.settle()
    stage.edit(serviceAccountName=None)
    stage.settle()


def _rest(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(suspend=True)
    stage.settle()
    stage.remove("app-driver-1")
    stage.settle()


@pytest.mark.parametrize("scene", [_launch, _failure, _edit, _bad_edit, _rest])
def test_a_scene_ends_the_same(api_server: ApiServer, namespace: str, scene: Callable[[Stage], None]) -> None:
    ends = []
    for server in (api_server, MemoryApi(lambda: START)):
        stage = Stage(server, namespace)
        try:
            scene(stage)
            ends.append(_end(stage))
        finally:
            stage.close()
    assert ends[0] == ends[1]


def _end(stage: Stage) -> dict[str, Any]:
    status = stage.status()
    status["driver"].pop("uid", None)
    for part in (status["jobModel"], *status["conditions"]):
        for name in ("runId", "hash", "lastTransitionTime"):
            part.pop(name, None)
    names = {plural: stage.names(plural) for plural in ("pods", "configmaps", "services", "serviceaccounts")}
    found: dict[str, Any] = json.loads(json.dumps({"status": status, "names": names}))
    return found
